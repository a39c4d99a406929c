import { readFile, readdir, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { promisify } from 'node:util'
import { brotliCompress, constants, gzip } from 'node:zlib'
import type { Plugin } from 'vite'

/** In bytes. A smaller file fits into one packet anyway, so compression helps no request. */
const minSize = 1_000

const encoders = {
  '.br': (content: Buffer) =>
    promisify(brotliCompress)(content, {
      params: {
        [constants.BROTLI_PARAM_QUALITY]: constants.BROTLI_MAX_QUALITY,
        [constants.BROTLI_PARAM_SIZE_HINT]: content.length,
      },
    }),
  '.gz': (content: Buffer) => promisify(gzip)(content, { level: constants.Z_BEST_COMPRESSION }),
} as const

/**
 * Writes a brotli and a gzip variant beside each asset of the build (`index-1a2b.js.br`), which the server sends to
 * clients that accept them: assets are compressed once, at the highest level. A variant that is no smaller than its
 * file is omitted.
 */
export function compressedAssets(): Plugin {
  return {
    name: 'berth:compressed-assets',
    apply: 'build',
    async writeBundle({ dir = '' }) {
      const folder = path.join(dir, 'assets')
      for (const name of await readdir(folder)) {
        const content = await readFile(path.join(folder, name))
        if (content.length < minSize) continue
        for (const [extension, encode] of Object.entries(encoders)) {
          const encoded = await encode(content)
          if (encoded.length < content.length) await writeFile(path.join(folder, name + extension), encoded)
        }
      }
    },
  }
}
