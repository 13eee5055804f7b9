/** Starts the console in the page. */
import '@mantine/core/styles.css';
import './styles.css';
import { MantineProvider } from '@mantine/core';
import { QueryClientProvider } from '@tanstack/react-query';
import { StrictMode } from 'react';
import { createRoot } from 'react-dom/client';
import { queryClient } from './api/query.ts';
import { App } from './app.tsx';
import { theme, variables } from './theme.ts';
import { Catch } from './ui/catch.tsx';

const root = document.getElementById('root');
if (!root) throw new Error('The page has no place for the console');

createRoot(root).render(
  <StrictMode>
    <MantineProvider theme={theme} cssVariablesResolver={variables} defaultColorScheme="auto">
      <QueryClientProvider client={queryClient}>
        <Catch>
          <App />
        </Catch>
      </QueryClientProvider>
    </MantineProvider>
  </StrictMode>,
);
