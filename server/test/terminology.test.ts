import assert from 'node:assert/strict'
import { globSync, readFileSync } from 'node:fs'
import path from 'node:path'
import { test } from 'node:test'
import { metricDescriptions } from '#/http/metric-descriptions.ts'
import { root, sources } from './support/imports.ts'

/**
 * A search by a term of the field has to find the code: the glossary holds exported names
 * (`glossary.test.ts`), this the names of files, classes of CSS, metrics, comments and titles of tests.
 */
const read = (file: string) => readFileSync(path.join(root, file), 'utf8')
const [, table = ''] = read('docs/reference/glossary.md').split('\n## Words that are not used')
const replaced = [...table.matchAll(/^\| ([A-Z][a-z]+) \| /gm)].map(([, word = '']) => word.toLowerCase()).slice(1)
/** Words of the table that English needs for other things. */
const ordinary = 'place instance longest most least picture rest withdrawal mend people told say'.split(' ')

const hasWord = (name: string, words: readonly string[]) =>
  name
    .toLowerCase()
    .split(/[^a-z]+/)
    .some((part) => words.some((word) => part === word || part === `${word}s`))

test('no file, class of CSS, metric or label of one has a word that a standard term replaced', () => {
  assert.ok(replaced.length > 15 && ordinary.every((word) => replaced.includes(word)), replaced.join())
  const styles = globSync('{web,server}/src/**/*.css', { cwd: root })
  const classes = styles.flatMap((file) =>
    [
      ...read(file)
        .replace(/\/\*[^]*?\*\//g, '')
        .matchAll(/\.([a-z][\w-]*)/g),
    ].map(([, name = '']) => name),
  )
  const metrics = Object.entries(metricDescriptions).flatMap(([name, { labels = [] }]) => [name, ...labels])
  assert.ok(classes.length > 300 && metrics.length > 80)
  const names = [...sources.map((file) => path.basename(file)), ...styles, ...classes, ...metrics]
  assert.deepEqual(
    names.filter((name) => hasWord(name, replaced)),
    [],
  )
})

test('comments, titles of tests and names within files have none of those that mean nothing else', () => {
  const words = replaced.filter((word) => !ordinary.includes(word))
  const form = new RegExp(`(?<![a-z])(?:${words.join('|')})s?(?![a-z])`, 'i')
  const inName = new RegExp(
    `[a-z#](?:${words.map((word) => word[0]?.toUpperCase() + word.slice(1)).join('|')})s?(?![a-z])`,
  )
  const titles = globSync('{api,texts,gateway,server,cli,web,bench,images,tools}/**/*.test.{ts,tsx,mjs,js}', {
    cwd: root,
    exclude: (name) => name.split('/').includes('node_modules'),
  })
    .filter((file) => !file.endsWith('terminology.test.ts'))
    .flatMap(
      (file) =>
        read(file)
          .match(/(?<=\btest\(\s*)(['"`]).+?\1,/g)
          ?.map((title) => `${file}: ${title}`) ?? [],
    )
  assert.ok(titles.length > 3_000, `only ${titles.length} titles found`)
  const lines = sources.flatMap((file) =>
    read(file)
      .split('\n')
      .map((line) => `${file}: ${line}`),
  )
  assert.deepEqual(
    [...titles, ...lines].filter((text) => form.test(text) || inName.test(text)),
    [],
  )
})

test('a limit is called a maximum, a minimum or a timeout', () => {
  const found = sources.flatMap((file) =>
    (read(file).match(/\/\*\* (?:Longest|Shortest|Most|Least|Fewest) .*/g) ?? []).map((line) => `${file}: ${line}`),
  )
  assert.deepEqual(found, [])
})
