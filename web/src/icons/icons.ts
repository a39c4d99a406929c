/**
 * The signs of the first load, drawn for Berth: paths of a square of 24 without a fill, whose lines `Icon` draws. Each is an
 * export of its own, so that a page carries those that it shows. Pages that are loaded later have theirs in
 * `late-icons.ts`.
 */

export const close = 'M6 6l12 12M18 6 6 18'
/** Further actions are in a menu. */
export const more =
  'M5 11.4a.6.6 0 1 0 0 1.2.6.6 0 1 0 0-1.2zM12 11.4a.6.6 0 1 0 0 1.2.6.6 0 1 0 0-1.2zM19 11.4a.6.6 0 1 0 0 1.2.6.6 0 1 0 0-1.2z'
export const play = 'M8 5l11 7-11 7z'
export const pause = 'M9 6v12M15 6v12'
export const stopped = 'M7 7h10v10H7z'
export const warning = 'M12 4 2.5 20h19zM12 10v4M12 17h.01'
export const blocked = 'M12 3a9 9 0 1 0 0 18 9 9 0 0 0 0-18zM5.7 5.7l12.6 12.6'
export const clock = 'M12 3a9 9 0 1 0 0 18 9 9 0 0 0 0-18zM12 7v5l3 2'
