import type { TypeIcon } from './type-icons.ts'

/** The sign of each name that a template's `icon` may have, as those of `icons.ts`. */
export const typePaths: Readonly<Record<TypeIcon, string>> = {
  app: 'M4 4h7v7H4zM13 4h7v7h-7zM4 13h7v7H4zM16.5 13.5v6M13.5 16.5h6',
  book: 'M12 6C10 4 7 4 3 4v14c4 0 7 0 9 2 2-2 5-2 9-2V4c-4 0-7 0-9 2zM12 6v14',
  chart: 'M4 4v16h16M8.5 16v-4M12.5 16V8M16.5 16v-6',
  code: 'm8 7-5 5 5 5M16 7l5 5-5 5M13.5 5l-3 14',
  cube: 'm12 2.5 8.5 4.75v9.5L12 21.5l-8.5-4.75v-9.5zM3.5 7.25 12 12l8.5-4.75M12 12v9.5',
  database: 'M4 6.5c0-4 16-4 16 0s-16 4-16 0M4 6.5v11c0 4 16 4 16 0v-11M4 12c0 4 16 4 16 0',
  desktop: 'M3 4h18v12H3zM12 16v4M8 20h8',
  flask: 'M9 3h6M10 3v6l-5.5 9c-1 2 0 3 2 3h11c2 0 3-1 2-3L14 9V3M7.5 15h9',
  flow: 'M3 9h6v6H3zM15 3h6v6h-6zM15 15h6v6h-6zM9 12h3M15 6h-3v12h3',
  globe: 'M12 3a9 9 0 1 0 0 18 9 9 0 0 0 0-18zM3 12h18M12 3c-5 6-5 12 0 18M12 3c5 6 5 12 0 18',
  image: 'M3 4h18v16H3zM8 8.5h.01M3 17l5-5 4 4 4-5 5 5',
  lightning: 'm13 2-8 12h7l-1 8 8-12h-7z',
  music: 'M9 18V5l11-2v13M9 18a3 3 0 1 1-6 0 3 3 0 0 1 6 0zM20 16a3 3 0 1 1-6 0 3 3 0 0 1 6 0z',
  notebook: 'M6 3h13v18H6zM3.5 7.5h4M3.5 12h4M3.5 16.5h4M11 8h5M11 12h5',
  page: 'M6 3h8l5 5v13H6zM14 3v5h5M9 13h7M9 17h5',
  robot: 'M5 9h14v11H5zM12 9V4M9 13v2M15 13v2M2 13v3M22 13v3',
  server: 'M4 4h16v7H4zM4 13h16v7H4zM8 7.5h.01M8 16.5h.01',
  sigma: 'M18 6.5V4H6l6.5 8L6 20h12v-2.5',
  sliders: 'M4 7h9M17 7h3M15 5v4M4 17h3M11 17h9M9 15v4',
  terminal: 'M3 4h18v16H3zM7 9l3 3-3 3M13 15h4',
}
