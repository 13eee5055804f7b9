/** Colours, type and the defaults of the components: one place decides how everything looks. */
import { type CSSVariablesResolver, createTheme, type MantineColorsTuple } from '@mantine/core';

const lagoon: MantineColorsTuple = [
  '#ecf7f7',
  '#d8ecec',
  '#aed8d9',
  '#81c3c5',
  '#5db2b4',
  '#46a7aa',
  '#38a2a5',
  '#288d90',
  '#1b7377',
  '#05605f',
];

const dark: MantineColorsTuple = [
  '#d6dbe0',
  '#b7bec6',
  '#98a1ac',
  '#6c7683',
  '#3f4853',
  '#313943',
  '#252c35',
  '#1a2028',
  '#12171d',
  '#0c1014',
];

const radius = 'md';

export const theme = createTheme({
  primaryColor: 'lagoon',
  primaryShade: 8,
  colors: { lagoon, dark },
  fontFamily: 'Inter, ui-sans-serif, system-ui, -apple-system, "Segoe UI", Roboto, "Helvetica Neue", Arial, sans-serif',
  fontFamilyMonospace: 'ui-monospace, SFMono-Regular, Menlo, Consolas, "DejaVu Sans Mono", monospace',
  fontSizes: { xs: '0.75rem', sm: '0.875rem', md: '0.9375rem', lg: '1.0625rem', xl: '1.25rem' },
  defaultRadius: radius,
  cursorType: 'pointer',
  respectReducedMotion: true,
  headings: {
    fontWeight: '620',
    sizes: {
      h1: { fontSize: '1.375rem', lineHeight: '1.3' },
      h2: { fontSize: '1.0625rem', lineHeight: '1.4' },
      h3: { fontSize: '0.9375rem', lineHeight: '1.4' },
    },
  },
  components: {
    Paper: { defaultProps: { withBorder: true } },
    Modal: {
      styles: { title: { fontWeight: 620, fontSize: 'var(--mantine-font-size-lg)' } },
      defaultProps: { centered: true, transitionProps: { duration: 120 }, closeButtonProps: { 'aria-label': 'Close' } },
    },
    // Dialogs are no page: their heads are not its banner.
    ModalHeader: { defaultProps: { role: 'presentation' } },
    DrawerHeader: { defaultProps: { role: 'presentation' } },
    Drawer: {
      styles: { title: { fontWeight: 620, fontSize: 'var(--mantine-font-size-lg)' } },
      defaultProps: { transitionProps: { duration: 150 }, closeButtonProps: { 'aria-label': 'Close' } },
    },
    Tooltip: { defaultProps: { withArrow: true, openDelay: 250 } },
    Badge: {
      defaultProps: { variant: 'light', radius: 'sm' },
      styles: { root: { textTransform: 'none', letterSpacing: 0, fontWeight: 550, flexShrink: 0 } },
    },
    SegmentedControl: {
      styles: {
        root: { background: 'var(--mantine-color-default)', border: '1px solid var(--mantine-color-default-border)' },
      },
    },
    Select: { defaultProps: { allowDeselect: false, checkIconPosition: 'right', openOnFocus: false } },
    ActionIcon: { defaultProps: { variant: 'subtle', color: 'gray' } },
    Menu: { defaultProps: { shadow: 'md', position: 'bottom-end', transitionProps: { duration: 100 } } },
  },
});

const tinted = ['lagoon', 'teal', 'blue', 'orange', 'red', 'yellow', 'gray'];

/**
 * Lines are quieter than Mantine draws them, and what is written in a colour is darker or paler, so that it can be read on its
 * ground. In the dark, tints are a breath of the colour over the surface.
 */
export const variables: CSSVariablesResolver = () => ({
  variables: {},
  light: {
    '--mantine-color-default-border': '#dfe3e7',
    '--mantine-color-error': 'var(--mantine-color-red-9)',
    ...Object.fromEntries(
      tinted.map((name) => [
        `--mantine-color-${name}-light-color`,
        `color-mix(in srgb, var(--mantine-color-${name}-9) 84%, black)`,
      ]),
    ),
  },
  dark: {
    '--mantine-color-default-border': 'var(--mantine-color-dark-5)',
    '--mantine-color-error': 'var(--mantine-color-red-4)',
    ...Object.fromEntries(
      tinted.flatMap((name) => [
        [`--mantine-color-${name}-light`, `color-mix(in srgb, var(--mantine-color-${name}-5) 16%, transparent)`],
        [`--mantine-color-${name}-light-hover`, `color-mix(in srgb, var(--mantine-color-${name}-5) 24%, transparent)`],
        [`--mantine-color-${name}-light-color`, `var(--mantine-color-${name}-3)`],
      ]),
    ),
  },
});
