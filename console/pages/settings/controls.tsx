/** The controls of settings: switches and choices save at once, numbers and lists when asked. */
import { Button, NumberInput, Select, Switch, TagsInput } from '@mantine/core';
import { useId, useState } from 'react';
import type { SettingsInput } from '../../api/organisation.ts';
import type { OrganisationSettings } from '../../api/types.ts';
import { type ControlMode, SettingRow } from './host.tsx';
import type { ChoiceSetting, NumberSetting, SwitchSetting, TagsSetting } from './setting.ts';

interface ControlProps<S> {
  setting: S;
  values: OrganisationSettings;
  mode: ControlMode;
  save(change: SettingsInput): void;
}

export function SwitchControl({ setting, values, mode, save }: ControlProps<SwitchSetting>) {
  const id = useId();
  const value = setting.read(values);
  return (
    <SettingRow setting={setting} mode={mode} htmlFor={id} text={value ? 'On' : 'Off'}>
      <Switch id={id} checked={value} onChange={(event) => save(setting.write(event.currentTarget.checked))} />
    </SettingRow>
  );
}

export function ChoiceControl({ setting, values, mode, save }: ControlProps<ChoiceSetting>) {
  const id = useId();
  const value = setting.read(values);
  const find = (wanted: string | null) => setting.choices.find((choice) => choice.value === wanted);
  const choose = (next: string | null) => {
    const choice = find(next);
    if (choice) save(choice.change);
  };
  return (
    <SettingRow setting={setting} mode={mode} htmlFor={id} text={find(value)?.label ?? value} wide>
      <Select
        id={id}
        data={setting.choices.map(({ value, label }) => ({ value, label }))}
        value={value}
        onChange={choose}
        flex={1}
      />
    </SettingRow>
  );
}

export function NumberControl({ setting, values, mode, save }: ControlProps<NumberSetting>) {
  const { label, unit = 1, suffix, placeholder, min, max } = setting;
  const id = useId();
  const value = setting.read(values);
  const stored = value === null ? '' : value / unit;
  const [draft, setDraft] = useState<{ base: number | string; text: number | string }>({ base: stored, text: stored });
  // A value that changed on the server replaces what was typed over the old one.
  const text = draft.base === stored ? draft.text : stored;
  const number = Number(text);
  const fits = text === '' || (Number.isFinite(number) && number >= min && number <= max);
  const keep = () => save(setting.write(text === '' ? null : Math.round(number * unit)));
  return (
    <SettingRow
      setting={setting}
      mode={mode}
      htmlFor={id}
      text={stored === '' ? placeholder : `${stored} ${suffix}`}
      wide
    >
      <NumberInput
        id={id}
        value={text}
        min={min}
        max={max}
        clampBehavior="none"
        suffix={` ${suffix}`}
        placeholder={placeholder}
        allowDecimal={unit > 1}
        decimalScale={2}
        disabled={mode === 'busy'}
        error={fits ? null : `${min} to ${max.toLocaleString('en')}`}
        onChange={(next) => setDraft({ base: stored, text: next })}
        onKeyDown={(event) => event.key === 'Enter' && fits && text !== stored && keep()}
        flex={1}
      />
      <SaveButton label={label} ready={mode !== 'busy' && fits && text !== stored} onClick={keep} />
    </SettingRow>
  );
}

export function TagsControl({ setting, values, mode, save }: ControlProps<TagsSetting>) {
  const { label, placeholder } = setting;
  const id = useId();
  const value = setting.read(values);
  const stored = JSON.stringify(value);
  const [draft, setDraft] = useState({ base: stored, tags: value });
  const tags = draft.base === stored ? draft.tags : value;
  return (
    <SettingRow setting={setting} mode={mode} htmlFor={id} text={value.join(', ') || placeholder} wide>
      <TagsInput
        id={id}
        value={tags}
        placeholder={tags.length === 0 ? placeholder : ''}
        disabled={mode === 'busy'}
        onChange={(next) => setDraft({ base: stored, tags: next })}
        flex={1}
      />
      <SaveButton
        label={label}
        ready={mode !== 'busy' && JSON.stringify(tags) !== stored}
        onClick={() => save(setting.write(tags))}
      />
    </SettingRow>
  );
}

const SaveButton = ({ label, ready, onClick }: { label: string; ready: boolean; onClick(): void }) => (
  <Button variant="default" disabled={!ready} onClick={onClick} aria-label={`Save: ${label}`}>
    Save
  </Button>
);
