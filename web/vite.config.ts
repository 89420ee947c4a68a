import { defineConfig, type Plugin } from 'vite';

// PatternFly's base styles name italic fonts and a font of icons. The page uses neither, so they are left out of the program.
const fontsThatAreUsed: Plugin = {
  name: 'fonts-that-are-used',
  enforce: 'pre',
  transform: (code, id) =>
    id.includes('react-core/dist/styles/base') ? code.replace(/@font-face\s*{[^}]*(Italic|pficon)[^}]*}/g, '') : undefined,
};

export default defineConfig({
  plugins: [fontsThatAreUsed],
  esbuild: { jsx: 'automatic' },
  build: { target: 'es2022', assetsInlineLimit: 0, modulePreload: { polyfill: false }, chunkSizeWarningLimit: 1500 },
  // For work on the page: `npx vite` with a service on its usual port.
  server: { proxy: { '/api': 'http://127.0.0.1:8090', '/page.json': 'http://127.0.0.1:8090' } },
});
