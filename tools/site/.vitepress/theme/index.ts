import type { EnhanceAppContext } from 'vitepress';
import DefaultTheme from 'vitepress/theme-without-fonts';
import { SEARCH } from '../../search.ts';
import './style.css';

export default {
  extends: DefaultTheme,
  /** The configuration reaches the browser as text, without what its functions use. */
  enhanceApp({ siteData }: EnhanceAppContext): void {
    siteData.value.themeConfig.search.options.miniSearch = SEARCH;
  },
};
