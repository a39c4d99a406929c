import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

/** @param {string} path */
const from = (path) => fileURLToPath(new URL(path, import.meta.url))

/**
 * Where things are. Everything that is made here goes below `own`, which git ignores and which can be deleted at any time;
 * a released Berth, whose folder is read only, names another one by `BERTH_CACHE_DIR`.
 */
export const paths = {
  /** This folder and its neighbours: what the images are made of, with `build-demo-images.mjs`. */
  images: from('..'),
  workspace: from('../workspace'),
  own: process.env.BERTH_CACHE_DIR ? join(process.env.BERTH_CACHE_DIR, 'images') : from('../../.berth/images'),
  /** Built pages of a release, which has no tools to build them. */
  released: from('../assets'),
}
