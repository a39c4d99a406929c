/** Signs that the pages have for types of containers, by the names that a template's `icon` may have. The first is of those without one. */
export const typeIcons = [
  'app',
  'book',
  'chart',
  'code',
  'cube',
  'database',
  'desktop',
  'flask',
  'flow',
  'globe',
  'image',
  'lightning',
  'music',
  'notebook',
  'page',
  'robot',
  'server',
  'sigma',
  'sliders',
  'terminal',
] as const
/** Name of a sign. */
export type TypeIcon = (typeof typeIcons)[number]
