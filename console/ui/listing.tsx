/** Lists: the same table everywhere, with its skeleton, its empty state, its fault and its pages. */
import { Anchor, Box, Group, Pagination, Paper, Skeleton, Table, Text } from '@mantine/core';
import type { ReactNode } from 'react';
import { pageSize } from '../api/query.ts';
import { usePageIndex } from '../router/router.tsx';
import { Fault } from './states.tsx';

export interface Column<R> {
  header: string;
  cell(row: R): ReactNode;
  /** Left out on screens narrower than this; the first column then says the most important of it. */
  from?: 'sm' | 'md';
  align?: 'right';
  width?: number | string;
  /** A column of buttons: its header is only for screen readers. */
  quiet?: boolean;
}

interface Found<R> {
  rows: R[];
  total: number;
}

interface ListingProps<R> {
  /** What the table holds, for screen readers. */
  label: string;
  columns: readonly Column<R>[];
  rowKey(row: R): string;
  query: { error: unknown; isPending: boolean; isPlaceholderData?: boolean; refetch(): unknown };
  found: Found<R> | undefined;
  empty: ReactNode;
  /** Opens a row; the first column must then hold a link or button that does the same by keyboard. */
  onOpen?(row: R): void;
}

export function Listing<R>({ label, columns, rowKey, query, found, empty, onOpen }: ListingProps<R>) {
  const [index, setIndex] = usePageIndex();
  if (query.error && !found) return <Fault error={query.error} retry={() => void query.refetch()} />;
  const pages = found ? Math.ceil(found.total / pageSize) : 0;
  return (
    <Box>
      <Paper className="gw-listing" aria-busy={query.isPending || query.isPlaceholderData}>
        {found?.rows.length === 0 ? (
          empty
        ) : (
          <Table aria-label={label} verticalSpacing="sm" horizontalSpacing="md" highlightOnHover={Boolean(found)}>
            <Head columns={columns} />
            <Table.Tbody style={{ opacity: query.isPlaceholderData ? 0.55 : 1 }}>
              {found
                ? found.rows.map((row) => (
                    <Table.Tr
                      key={rowKey(row)}
                      onClick={onOpen && ((event) => openUnlessControl(event.target, () => onOpen(row)))}
                      style={onOpen && { cursor: 'pointer' }}
                    >
                      {columns.map((column) => (
                        <Table.Td
                          key={column.header}
                          ta={column.align ?? 'left'}
                          {...(column.from && { visibleFrom: column.from })}
                        >
                          {column.cell(row)}
                        </Table.Td>
                      ))}
                    </Table.Tr>
                  ))
                : skeletonRows.map((row) => <SkeletonRow key={row} columns={columns} />)}
            </Table.Tbody>
          </Table>
        )}
      </Paper>
      {found && pages > 1 && (
        <Group justify="space-between" mt="md" gap="sm">
          <Text size="sm" c="dimmed" className="gw-numbers">
            {index * pageSize + 1}–{Math.min((index + 1) * pageSize, found.total)} of {found.total.toLocaleString('en')}
          </Text>
          <Pagination
            size="sm"
            total={pages}
            value={index + 1}
            onChange={(page) => setIndex(page - 1)}
            siblings={1}
            getControlProps={(control) => ({ 'aria-label': `${control} page` })}
          />
        </Group>
      )}
    </Box>
  );
}

const skeletonRows = ['a', 'b', 'c', 'd', 'e', 'f'];

function Head<R>({ columns }: { columns: readonly Column<R>[] }) {
  return (
    <Table.Thead>
      <Table.Tr>
        {columns.map(({ header, align, from, width, quiet }) => (
          <Table.Th
            key={header}
            ta={align ?? 'left'}
            {...(from && { visibleFrom: from })}
            style={width ? { width } : {}}
          >
            {quiet ? <span className="gw-hidden">{header}</span> : header}
          </Table.Th>
        ))}
      </Table.Tr>
    </Table.Thead>
  );
}

function SkeletonRow<R>({ columns }: { columns: readonly Column<R>[] }) {
  return (
    <Table.Tr>
      {columns.map(({ header, from, quiet }, at) => (
        <Table.Td key={header} {...(from && { visibleFrom: from })}>
          <Skeleton height={14} my={at === 0 ? 11 : 3} width={quiet ? 20 : at === 0 ? '70%' : '55%'} />
        </Table.Td>
      ))}
    </Table.Tr>
  );
}

/** A click on a button, link or field inside the row is not a click on the row. */
function openUnlessControl(target: EventTarget, open: () => void): void {
  if (target instanceof Element && target.closest('a, button, input, [role="menu"], [role="menuitem"]')) return;
  if (window.getSelection()?.toString()) return;
  open();
}

/** The name of a row that opens when it is clicked, for keyboards. */
export const Opener = ({ onClick, children }: { onClick(): void; children: ReactNode }) => (
  <Anchor component="button" type="button" inherit className="gw-clip" maw="100%" onClick={onClick}>
    {children}
  </Anchor>
);

/** Two lines of a cell, the second quieter; `strong` for the cell that says what the row is. */
export function Named({ name, detail, strong }: { name: ReactNode; detail?: ReactNode; strong?: boolean }) {
  return (
    <Box miw={0}>
      <Text size="sm" fw={strong ? 550 : 400} className="gw-clip" component="div">
        {name}
      </Text>
      {detail && (
        <Text size="xs" c="dimmed" className="gw-clip" component="div">
          {detail}
        </Text>
      )}
    </Box>
  );
}
