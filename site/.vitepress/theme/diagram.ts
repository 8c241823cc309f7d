import { useData } from 'vitepress';
import { defineComponent, h, onMounted, ref, watch } from 'vue';

/** A diagram in Mermaid's language, drawn in the colours of the page. `text` is percent-encoded. */
export const MermaidDiagram = defineComponent({
  props: { id: { type: String, required: true }, text: { type: String, required: true } },
  setup(props) {
    const { isDark } = useData();
    const svg = ref('');
    const draw = async () => {
      const { default: mermaid } = await import('mermaid');
      mermaid.initialize({ startOnLoad: false, theme: isDark.value ? 'dark' : 'default' });
      ({ svg: svg.value } = await mermaid.render(props.id, decodeURIComponent(props.text)));
    };
    onMounted(draw);
    watch(isDark, draw);
    return () =>
      h('div', { class: 'diagram', tabindex: 0, role: 'img', 'aria-label': 'Diagram', innerHTML: svg.value });
  },
});
