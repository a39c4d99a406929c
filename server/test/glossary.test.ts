import assert from 'node:assert/strict'
import { globSync, readFileSync } from 'node:fs'
import path from 'node:path'
import { test } from 'node:test'
import { root } from './support/imports.ts'

/** The glossary is the list of terms that code and documents share; these tests hold the exported names to it. */
const page = readFileSync(path.join(root, 'docs/reference/glossary.md'), 'utf8')
const [termsPart = '', replacedPart = ''] = page.split('\n## Words that are not used')
const rowsOf = (part: string) =>
  [...part.matchAll(/^\| (.+?) \| (.+?) \|/gm)]
    .map(([, first = '', second = '']) => [first, second] as const)
    .filter(([first]) => first !== 'Term' && first !== 'Word' && !first.startsWith('-'))
const terms = rowsOf(termsPart)
const replaced = rowsOf(replacedPart).map(([word]) => wordsOf(word))

const exportForm = /^export (?:async |abstract )*(?:function\*?|class|interface|type|const|let) (\w+)/gm
const exported = globSync(['{texts,gateway,server,cli,web,api}/src/**/*.{ts,tsx}'], { cwd: root })
  .filter((file) => !file.includes('.test.'))
  .flatMap((file) =>
    [...readFileSync(path.join(root, file), 'utf8').matchAll(exportForm)].map(([, name = '']) => ({ file, name })),
  )

/** `launchQueue`, `LaunchQueue` and "Launch queue" are the same words. */
function wordsOf(name: string): string[] {
  const words = name.match(/[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+/g) ?? []
  return words.map((word) => word.toLowerCase())
}

const isWord = (word: string | undefined, term: string) =>
  word === term || word === `${term}s` || word === `${term.replace(/y$/, 'ie')}s`

/** Whether these words follow each other in the words of a name. */
function contains(name: string, words: readonly string[]): boolean {
  const all = wordsOf(name)
  return all.some((_, at) => words.every((word, offset) => isWord(all[at + offset], word)))
}

test('every term has one entry', () => {
  assert.ok(terms.length > 60, `only ${terms.length} terms found`)
  const names = terms.map(([term]) => term.toLowerCase())
  assert.deepEqual(
    names.filter((each, at) => names.indexOf(each) !== at),
    [],
  )
})

test('a term has one meaning: no definition tells two apart', () => {
  const definitions = terms.map(([term, definition]) => `${term}: ${definition}`)
  assert.deepEqual(
    definitions.filter((text) => /; (?:elsewhere|of (?:an? |the )?[\w ]+:)/.test(text)),
    [],
  )
})

test('no exported name uses a word that a standard term replaced', () => {
  assert.ok(replaced.length > 10, `only ${replaced.length} words found`)
  const strays = exported.flatMap(({ file, name }) =>
    replaced.filter((words) => contains(name, words)).map((words) => `${name} in ${file}: "${words.join(' ')}"`),
  )
  assert.deepEqual(strays, [])
})
