/** The console's icons: one stroke weight, drawn on a 24 by 24 grid, silent to screen readers. */

const drawings = {
  overview: 'M4 11.5 12 5l8 6.5M6.5 10v9h11v-9M10 19v-5h4v5',
  workspace: 'M4 7.5 12 4l8 3.5-8 3.5-8-3.500zM4 12l8 3.5 8-3.500M4 16.5 12 20l8-3.5',
  users:
    'M9 11.500a3.5 3.5 0 1 0 0-7 3.5 3.5 0 0 0 0 7zM2.5 19.500c.6-3.3 3.2-5 6.5-5s5.9 1.7 6.5 5M16 4.800a3.5 3.5 0 0 1 0 6.400M18 14.800c2 .7 3.2 2.3 3.5 4.7',
  invite: 'M4 6.500h16v11H4zM4 7l8 6 8-6',
  key: 'M8.5 15.500a4 4 0 1 0 0-8 4 4 0 0 0 0 8zM12.5 11.500H21M18 11.500v3.500M15 11.500v2.5',
  audit: 'M6 4h9l3.5 3.500V20H6zM15 4v4h3.500M9 12.500h6M9 16h6',
  settings:
    'M4 7h9M18 7h2M4 17h2M11 17h9M15.5 9.500a2.5 2.5 0 1 0 0-5 2.5 2.5 0 0 0 0 5zM8.5 19.500a2.5 2.5 0 1 0 0-5 2.5 2.5 0 0 0 0 5z',
  account: 'M12 12a4 4 0 1 0 0-8 4 4 0 0 0 0 8zM4.5 20c.8-3.6 3.8-5.5 7.5-5.500s6.7 1.9 7.5 5.5',
  signOut: 'M14 5H6v14h8M10.5 12H20M16.5 8.5 20 12l-3.5 3.5',
  sun: 'M12 16a4 4 0 1 0 0-8 4 4 0 0 0 0 8zM12 3v2M12 19v2M3 12h2M19 12h2M5.6 5.6 7 7M17 17l1.4 1.400M18.4 5.6 17 7M7 17l-1.4 1.4',
  moon: 'M19.5 14.500A8 8 0 0 1 9.5 4.500a8 8 0 1 0 10 10z',
  auto: 'M12 20a8 8 0 1 0 0-16 8 8 0 0 0 0 16zM12 4v16M12 8h6.500M12 12h8M12 16h6.5',
  plus: 'M12 5.500v13M5.5 12h13',
  search: 'M10.5 16.500a6 6 0 1 0 0-12 6 6 0 0 0 0 12zM15 15l4.5 4.5',
  copy: 'M9 9h10v10H9zM15 9V5H5v10h4',
  check: 'm5 12.5 4.5 4.500L19 7.5',
  more: 'M6 12h.01M12 12h.01M18 12h.01',
  chevron: 'm9 10.5 3 3 3-3',
  switch: 'm8.5 9.5 3.5-3.5 3.5 3.500M8.5 14.5 12 18l3.5-3.5',
  notice: 'M6.5 16.5V11a5.5 5.5 0 0 1 11 0v5.5l1.5 1.5H5zM10.5 20.5h3',
  edit: 'M5 19h3.500L18.5 9 15 5.5 5 15.500zM13 7.500l3.5 3.5',
  rotate: 'M19 12a7 7 0 1 1-2-4.900M19.5 4v4h-4',
  eye: 'M2.5 12c2-4 5.3-6 9.5-6s7.5 2 9.5 6c-2 4-5.3 6-9.5 6s-7.5-2-9.5-6zM12 14.500a2.5 2.5 0 1 0 0-5 2.5 2.5 0 0 0 0 5z',
  trash: 'M5 7h14M10 7V4.500h4V7M7 7l.8 12.500h8.400L17 7M10.5 10.500v5.500M13.5 10.500v5.5',
  archive: 'M4 5h16v4H4zM5.5 9v10h13V9M10 12.500h4',
  alert: 'M12 4 2.8 19.500h18.400zM12 10v4.500M12 17h.01',
  info: 'M12 20a8 8 0 1 0 0-16 8 8 0 0 0 0 16zM12 11v5M12 8h.01',
  back: 'M19 12H5.500M11 6.5 5.5 12l5.5 5.5',
  member:
    'M10 11.500a3.5 3.5 0 1 0 0-7 3.5 3.5 0 0 0 0 7zM3.5 19.500c.6-3.3 3.2-5 6.5-5 1.3 0 2.5.3 3.5.8M18 13v6M15 16h6',
} as const;

export type IconName = keyof typeof drawings;

export function Icon({ name, size = 18 }: { name: IconName; size?: number }) {
  return (
    <svg
      width={size}
      height={size}
      viewBox="0 0 24 24"
      fill="none"
      stroke="currentColor"
      strokeWidth={name === 'more' ? 2.6 : 1.7}
      strokeLinecap="round"
      strokeLinejoin="round"
      aria-hidden="true"
      focusable="false"
    >
      <path d={drawings[name]} />
    </svg>
  );
}
