import { fileURLToPath } from 'node:url'

/** @param {string} path */
const from = (path) => fileURLToPath(new URL(path, import.meta.url))

/** Where things are. Everything that is made here goes below `own`, which git ignores and which can be deleted at any time. */
export const paths = {
  /** This folder and its neighbours: what the images are made of, with `build.mjs`. */
  images: from('..'),
  workspace: from('../workspace'),
  own: from('../../.berth/images'),
}
