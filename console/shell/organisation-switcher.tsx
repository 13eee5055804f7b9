/** The organisation at work, and the way to another one that the person belongs to. */
import { Badge, Box, Button, Group, Image, Menu, Text } from '@mantine/core';
import { useState } from 'react';
import { switchOrganisation, useMyOrganisations, useSelf } from '../api/session.ts';
import mark from '../icon.svg';
import { navigate } from '../router/router.tsx';
import { Icon } from '../ui/icons.tsx';
import { NewOrganisation } from './new-organisation.tsx';

export function OrganisationSwitcher() {
  const { organisation } = useSelf();
  const { data } = useMyOrganisations();
  const [creating, setCreating] = useState(false);
  const [failed, setFailed] = useState<string | null>(null);
  const others = data?.data ?? [];
  const change = async (id: string) => {
    if (id === organisation.id) return;
    setFailed(null);
    try {
      await switchOrganisation(id);
      navigate('/');
    } catch (error) {
      setFailed(error instanceof Error ? error.message : 'The organisation could not be changed.');
    }
  };
  return (
    <Group gap="xs" wrap="nowrap" miw={0}>
      <Image src={mark} alt="gw" w={26} h={26} radius={0} visibleFrom="sm" />
      <Menu position="bottom-start" width={280}>
        <Menu.Target>
          <Button
            variant="subtle"
            color="gray"
            px="xs"
            rightSection={<Icon name="switch" size={16} />}
            aria-label={`Organisation: ${organisation.name}`}
            styles={{ label: { color: 'var(--mantine-color-text)' } }}
          >
            <Box className="gw-clip" lh={1.6} maw={{ base: 150, sm: 260 }}>
              {organisation.name}
            </Box>
          </Button>
        </Menu.Target>
        <Menu.Dropdown>
          <Menu.Label>Your organisations</Menu.Label>
          {others.map(({ id, name, role }) => (
            <Menu.Item
              key={id}
              onClick={() => void change(id)}
              closeMenuOnClick={id === organisation.id}
              rightSection={id === organisation.id ? <Icon name="check" size={16} /> : <Badge>{role}</Badge>}
            >
              <Box className="gw-clip">{name}</Box>
            </Menu.Item>
          ))}
          <Menu.Divider />
          <Menu.Item leftSection={<Icon name="plus" size={16} />} onClick={() => setCreating(true)}>
            New organisation
          </Menu.Item>
          {failed && (
            <Text size="xs" c="red" p="xs" role="alert">
              {failed}
            </Text>
          )}
        </Menu.Dropdown>
      </Menu>
      {creating && <NewOrganisation onClose={() => setCreating(false)} onReady={(id) => void change(id)} />}
    </Group>
  );
}
