/** The controls of settings: switches and choices save at once, numbers and lists when asked. */
import { Button, NumberInput, Select, Switch, TagsInput } from '@mantine/core';
import { type ReactNode, useId, useState } from 'react';
import { type ControlMode, SettingRow } from './host.tsx';

interface Common {
  label: string;
  help?: ReactNode;
  mode: ControlMode;
}

/** A value that is decided elsewhere is told as text: a control that does nothing would only puzzle. */
const fixedText = (mode: ControlMode, text: string): string | null => (mode === 'locked' ? text : null);

export function SwitchSetting({
  label,
  help,
  mode,
  value,
  onChange,
}: Common & { value: boolean; onChange(on: boolean): void }) {
  const id = useId();
  return (
    <SettingRow label={label} help={help} htmlFor={id} fixed={fixedText(mode, value ? 'On' : 'Off')}>
      <Switch id={id} checked={value} onChange={(event) => onChange(event.currentTarget.checked)} />
    </SettingRow>
  );
}

export function ChoiceSetting<T extends string>(
  props: Common & { value: T; choices: readonly { value: T; label: string }[]; onChange(value: T): void },
) {
  const { label, help, mode, value, choices, onChange } = props;
  const id = useId();
  return (
    <SettingRow
      label={label}
      help={help}
      htmlFor={id}
      fixed={fixedText(mode, choices.find((choice) => choice.value === value)?.label ?? value)}
      wide
    >
      <Select id={id} data={[...choices]} value={value} onChange={(next) => next && onChange(next)} flex={1} />
    </SettingRow>
  );
}

/** A number that may be absent; `unit` is what one of it is worth in the service's own unit. */
export function NumberSetting(
  props: Common & {
    value: number | null;
    unit?: number;
    suffix: string;
    placeholder: string;
    min: number;
    max: number;
    onSave(value: number | null): void;
  },
) {
  const { label, help, mode, value, unit = 1, suffix, placeholder, min, max, onSave } = props;
  const id = useId();
  const stored = value === null ? '' : value / unit;
  const [draft, setDraft] = useState<{ base: number | string; text: number | string }>({ base: stored, text: stored });
  // A value that changed on the server replaces what was typed over the old one.
  const text = draft.base === stored ? draft.text : stored;
  const number = Number(text);
  const fits = text === '' || (Number.isFinite(number) && number >= min && number <= max);
  const save = () => onSave(text === '' ? null : Math.round(number * unit));
  return (
    <SettingRow
      label={label}
      help={help}
      htmlFor={id}
      fixed={fixedText(mode, stored === '' ? placeholder : `${stored} ${suffix}`)}
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
        onKeyDown={(event) => event.key === 'Enter' && fits && text !== stored && save()}
        flex={1}
      />
      <Button
        variant="default"
        disabled={mode === 'busy' || !fits || text === stored}
        onClick={save}
        aria-label={`Save: ${label}`}
      >
        Save
      </Button>
    </SettingRow>
  );
}

export function TagsSetting(props: Common & { value: string[]; placeholder: string; onSave(value: string[]): void }) {
  const { label, help, mode, value, placeholder, onSave } = props;
  const id = useId();
  const stored = JSON.stringify(value);
  const [draft, setDraft] = useState({ base: stored, tags: value });
  const tags = draft.base === stored ? draft.tags : value;
  return (
    <SettingRow label={label} help={help} htmlFor={id} fixed={fixedText(mode, value.join(', ') || placeholder)} wide>
      <TagsInput
        id={id}
        value={tags}
        placeholder={tags.length === 0 ? placeholder : ''}
        disabled={mode === 'busy'}
        onChange={(next) => setDraft({ base: stored, tags: next })}
        flex={1}
      />
      <Button
        variant="default"
        disabled={mode === 'busy' || JSON.stringify(tags) === stored}
        onClick={() => onSave(tags)}
        aria-label={`Save: ${label}`}
      >
        Save
      </Button>
    </SettingRow>
  );
}
