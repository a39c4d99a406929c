import { fileURLToPath, pathToFileURL } from 'node:url'
import compile from 'icu-minify/compile'
import type { Plugin } from 'vite'

const local = (path: string) => fileURLToPath(new URL(path, import.meta.url))

const catalogue = /\/src\/(?:admin\/)?messages\/[\w-]+\.ts$/

const german = local('./src/i18n/german.ts')

type Texts = { readonly [key: string]: string | Texts }

/**
 * Parses the messages of the catalogues at build time, so that no browser loads the parser (12 KB of the first load,
 * gzip): each text becomes what `use-intl/format-message/format-only` formats. That formatter converts every value to a
 * string: anything else is a tag, `<name></name>`.
 */
export function precompiledMessages(): Plugin {
  return {
    name: 'berth:precompiled-messages',
    enforce: 'pre',
    config: () => ({
      resolve: { alias: { 'use-intl/format-message': 'use-intl/format-message/format-only' } },
    }),
    // Each instance of a catalogue keeps the exports that are used of it: those of a language go into its file.
    async resolveId(source, importer) {
      if (importer !== german || !source.startsWith('#/messages/')) return null
      const resolved = await this.resolve(source, importer, { skipSelf: true })
      return resolved && `${resolved.id}?german`
    },
    async load(id) {
      const file = id.split('?')[0] ?? ''
      if (!catalogue.test(file) || !file.startsWith(local('./src/'))) return null
      // Imported anew at every change: Node caches modules by URL.
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
