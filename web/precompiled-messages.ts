import { fileURLToPath, pathToFileURL } from 'node:url'
import compile from 'icu-minify/compile'
import type { Plugin } from 'vite'
import { languages, type Language } from '@berth/api/boot.ts'
import type { Text, Texts } from './src/i18n/texts.ts'

const local = (path: string) => fileURLToPath(new URL(path, import.meta.url))

const catalogue = /\/src\/(?:admin\/)?messages\/[\w-]+\.ts$/

/** The files of which each has one language of its catalogues. */
const oneLanguage = new Map([
  [local('./src/i18n/english.ts'), 'en'],
  [local('./src/i18n/german.ts'), 'de'],
])

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
    async resolveId(source, importer) {
      const language = oneLanguage.get(importer ?? '')
      if (language === undefined) return null
      const resolved = await this.resolve(source, importer, { skipSelf: true })
      return resolved && `${resolved.id}?${language}`
    },
    async load(id) {
      const [file = '', query] = id.split('?')
      const language = languages.find((each) => each === query)
      if (!catalogue.test(file) || !file.startsWith(local('./src/'))) return null
      // Imported anew at every change: Node caches modules by URL.
      const module = (await import(`${pathToFileURL(file).href}?${Date.now()}`)) as Record<string, Texts>
      return Object.entries(module)
        .map(([name, texts]) => `export const ${name} = ${JSON.stringify(compiled(texts, language))}`)
        .join('\n')
    },
  }
}

const isText = (value: Text | Texts): value is Text => Array.isArray(value)

/** @param language undefined: each text stays in all of them */
function compiled(texts: Texts, language: Language | undefined): object {
  const parsed = (text: Text) =>
    language === undefined ? text.map((each) => compile(each)) : compile(text[languages.indexOf(language)] ?? '')
  return Object.fromEntries(
    Object.entries(texts).map(([key, each]) => [key, isText(each) ? parsed(each) : compiled(each, language)]),
  )
}
