import theme from 'vitepress/theme-without-fonts';
import { MermaidDiagram } from './diagram.ts';
import './style.css';

/** VitePress' own theme, in fonts of the system. */
export default {
  extends: theme,
  enhanceApp({ app }: { app: { component(name: string, component: object): void } }) {
    app.component('MermaidDiagram', MermaidDiagram);
  },
};
