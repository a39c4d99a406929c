import { fileURLToPath, pathToFileURL } from 'node:url'
import compile from 'icu-minify/compile'
import type { Plugin } from 'vite'

const local = (path: string) => fileURLToPath(new URL(path, import.meta.url))

const catalogue = /\/src\/(?:admin\/)?messages\/(?:en|de)\/[\w-]+\.ts$/

type Texts = { readonly [key: string]: string | Texts }

/**
 * Parses the messages of the catalogues while the front end is built, so that no browser has to load the parser (12 KB of
 * the first load, gzip): each text becomes what `use-intl/format-message/format-only` formats. That one makes a string of every
 * value: what is to be more than text is a tag, `<name></name>`.
 */
export function precompiledMessages(): Plugin {
  return {
    name: 'berth:precompiled-messages',
    enforce: 'pre',
    config: () => ({
      resolve: { alias: { 'use-intl/format-message': 'use-intl/format-message/format-only' } },
    }),
    async load(id) {
      const file = id.split('?')[0] ?? ''
      if (!catalogue.test(file) || !file.startsWith(local('./src/'))) return null
      // Asked for anew at every change: Node would give the module that it has.
      const module = (await import(`${pathToFileURL(file).href}?${Date.now()}`)) as Record<string, Texts>
      return Object.entries(module)
        .map(([name, texts]) => `export const ${name} = ${JSON.stringify(compiled(texts))}`)
        .join('\n')
    },
  }
}

const compiled = (texts: Texts): object =>
  Object.fromEntries(
    Object.entries(texts).map(([key, text]) => [key, typeof text === 'string' ? compile(text) : compiled(text)]),
  )
