import { useRoute, type EnhanceAppContext } from 'vitepress';
import DefaultTheme from 'vitepress/theme-without-fonts';
import { SEARCH } from '../../search.ts';
import { nextTick, onMounted, watch } from 'vue';
import { openRemembered, rememberChoices } from '../../frameworks.ts';
import './style.css';

export default {
  extends: DefaultTheme,
  setup(): void {
    const route = useRoute();
    onMounted(() => {
      rememberChoices();
      openRemembered();
    });
    watch(
      () => route.path,
      () => void nextTick(openRemembered),
    );
  },
  /**
   * Sets the search options here, because the configuration reaches the browser as text, without
   * the variables that its functions use.
   */
  enhanceApp({ siteData }: EnhanceAppContext): void {
    siteData.value.themeConfig.search.options.miniSearch = SEARCH;
  },
};
