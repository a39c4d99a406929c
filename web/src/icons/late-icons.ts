/** Signs of pages and dialogs that are loaded later, as those of `icons.ts`. */

export const plus = 'M12 5v14M5 12h14'
export const search = 'M10.5 4a6.5 6.5 0 1 0 0 13 6.5 6.5 0 0 0 0-13zM15.5 15.5 20 20'
export const members =
  'M9 5a3.5 3.5 0 1 0 0 7 3.5 3.5 0 0 0 0-7zM2.5 20c0-7 13-7 13 0M15.5 5.4a3.5 3.5 0 0 1 0 6.2M18 14.5c2 .8 3.5 2.5 3.5 5.5'
export const calendar = 'M4 5.5h16V20H4zM4 10h16M8 3v4M16 3v4'
export const folder = 'M3 6h6l2 2.5h10V19H3z'
export const link = 'M10 14l4-4M11 7l1.5-1.5a4.2 4.2 0 0 1 6 6L17 13M13 17l-1.5 1.5a4.2 4.2 0 0 1-6-6L7 11'
export const key = 'M8 11a4 4 0 1 0 0 8 4 4 0 0 0 0-8zM11 12l9-9M16 7l3 3'
export const hourglass = 'M6 3h12M6 21h12M7 3v4l5 5 5-5V3M7 21v-4l5-5 5 5v4'
/** A launch is under way. */
export const starting = 'M12 3a9 9 0 1 0 9 9'
/** Nothing has been started. */
export const nothing = 'M7 12h10'
export const unknown = 'M9 9a3 3 0 1 1 4.500 2.600c-1 .6-1.500 1.200-1.500 2.400M12 18h.01'
export const eye = 'M2.500 12c3.500-8 15.500-8 19 0-3.500 8-15.500 8-19 0zM12 9a3 3 0 1 0 0 6 3 3 0 0 0 0-6z'
/** Who manages a group. */
export const manager = 'M12 3l8 3v6c0 4.500-3.500 7.500-8 9-4.500-1.500-8-4.500-8-9V6z'
/** Figures at a glance. */
export const gauge = 'M3.500 18a9.500 9.500 0 1 1 17 0zM12 14l4-5'
export const group = 'M3 5h8v6H3zM13 5h8v6h-8zM3 13h8v6H3zM13 13h8v6h-8z'
