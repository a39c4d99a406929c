import assert from 'node:assert/strict'
import { existsSync, globSync, readFileSync } from 'node:fs'
import path from 'node:path'
import { test } from 'node:test'
import { root } from './support/imports.ts'

/** The glossary is the list of terms that code and documents share; these tests hold the exported names to it. */
const page = readFileSync(path.join(root, 'docs/reference/glossary.md'), 'utf8')
const [termsPart = '', replacedPart = ''] = page.split('\n## Words that are not used')
const rowsOf = (part: string) =>
  [...part.matchAll(/^\| (.+?) \| (.+?) \| (.+?) \|$/gm)]
    .map(([, first = '', second = '', third = '']) => [first, second, third] as const)
    .filter(([first]) => first !== 'Term' && first !== 'Word' && !first.startsWith('-'))
const terms = rowsOf(termsPart).map(([term, , where]) => ({
  term,
  /** "Admission control (admission queue)" and "Lead, leader" are two names of one thing each. */
  names: term.split(/, | \(/).map(wordsOf),
  paths: [...where.matchAll(/`([^`]+)`/g)].map(([, each = '']) => each),
}))
const replaced = rowsOf(replacedPart).map(([word]) => word)

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

const contains = (name: string, words: readonly string[]) => positionsOf(wordsOf(name), words).length > 0

/** Where these words begin in the words of a name. */
function positionsOf(all: readonly string[], words: readonly string[]): number[] {
  return all.flatMap((_, at) => (words.every((word, offset) => isWord(all[at + offset], word)) ? [at] : []))
}

/** Terms that a name uses: of `RoutingSnapshot` not also the shorter one that is a part of it. */
function termsIn(name: string): Set<string> {
  const all = wordsOf(name)
  const found = terms.flatMap(({ term, names }) =>
    names.flatMap((words) => positionsOf(all, words).map((at) => ({ term, at, end: at + words.length }))),
  )
  const isPart = (each: (typeof found)[number]) =>
    found.some(({ at, end }) => at <= each.at && end >= each.end && end - at > each.end - each.at)
  return new Set(found.filter((each) => !isPart(each)).map(({ term }) => term))
}

test('every term has one entry, and the places of its code exist', () => {
  assert.ok(terms.length > 60, `only ${terms.length} terms found`)
  const names = terms.map(({ term }) => term.toLowerCase())
  assert.deepEqual(
    names.filter((each, at) => names.indexOf(each) !== at),
    [],
  )
  const missing = terms.flatMap(({ term, paths }) =>
    paths.filter((each) => !existsSync(path.join(root, each))).map((each) => `${term}: ${each}`),
  )
  assert.deepEqual(missing, [])
})

test('a term has one meaning: no definition tells two apart', () => {
  const definitions = rowsOf(termsPart).map(([term, definition]) => `${term}: ${definition}`)
  assert.deepEqual(
    definitions.filter((text) => /; (?:elsewhere|of (?:an? |the )?[\w ]+:)/.test(text)),
    [],
  )
})

test('an exported name uses a term of the glossary only where the term is at home', () => {
  const strays = exported.flatMap(({ file, name }) => {
    const used = termsIn(name)
    return terms
      .filter(({ term, paths }) => used.has(term) && paths.length > 0)
      .filter(({ paths }) => !paths.some((each) => file.startsWith(each)))
      .map(({ term, paths }) => `${name} in ${file}: "${term}" is the term of ${paths.join(', ')}`)
  })
  assert.deepEqual(strays, [])
})

test('no exported name uses a word that a standard term replaced', () => {
  assert.ok(replaced.length > 10, `only ${replaced.length} words found`)
  const strays = exported.flatMap(({ file, name }) =>
    replaced.filter((word) => contains(name, wordsOf(word))).map((word) => `${name} in ${file}: "${word}"`),
  )
  assert.deepEqual(strays, [])
})
