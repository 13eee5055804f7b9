/** What can be done with one row of a list. */
import { ActionIcon, Menu } from '@mantine/core';
import { Icon, type IconName } from './icons.tsx';

export interface RowAction {
  label: string;
  icon: IconName;
  danger?: boolean;
  onClick(): void;
}

export function RowMenu({ label, items }: { label: string; items: readonly RowAction[] }) {
  if (items.length === 0) return null;
  return (
    <Menu>
      <Menu.Target>
        <ActionIcon aria-label={label}>
          <Icon name="more" />
        </ActionIcon>
      </Menu.Target>
      <Menu.Dropdown>
        {items.map(({ label: text, icon, danger, onClick }) => (
          <Menu.Item
            key={text}
            leftSection={<Icon name={icon} size={16} />}
            onClick={onClick}
            {...(danger && { color: 'red' })}
          >
            {text}
          </Menu.Item>
        ))}
      </Menu.Dropdown>
    </Menu>
  );
}
