/** Light, dark, or what the system says. */
import { ActionIcon, Menu, useMantineColorScheme } from '@mantine/core';
import { Icon } from '../ui/icons.tsx';

const schemes = [
  { value: 'light', label: 'Light', icon: 'sun' },
  { value: 'dark', label: 'Dark', icon: 'moon' },
  { value: 'auto', label: 'As the system', icon: 'auto' },
] as const;

export function SchemeToggle() {
  const { colorScheme, setColorScheme } = useMantineColorScheme();
  const current = schemes.find(({ value }) => value === colorScheme) ?? schemes[2];
  return (
    <Menu>
      <Menu.Target>
        <ActionIcon size="lg" aria-label={`Colour scheme: ${current.label}`}>
          <Icon name={current.icon} />
        </ActionIcon>
      </Menu.Target>
      <Menu.Dropdown>
        {schemes.map(({ value, label, icon }) => (
          <Menu.Item
            key={value}
            leftSection={<Icon name={icon} size={16} />}
            rightSection={value === colorScheme ? <Icon name="check" size={16} /> : null}
            onClick={() => setColorScheme(value)}
          >
            {label}
          </Menu.Item>
        ))}
      </Menu.Dropdown>
    </Menu>
  );
}
