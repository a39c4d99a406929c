import assert from 'node:assert/strict'
import { test } from 'node:test'
import { admin } from '#/admin/catalogues.ts'
import * as everyPage from '#/i18n/english.ts'
import { inLanguage } from '#/i18n/texts.ts'
import { data, sessions } from '#/messages/account.ts'
import { archive } from '#/messages/archive.ts'
import { groups } from '#/messages/groups.ts'
import { sharing } from '#/messages/sharing.ts'
import { snapshots } from '#/messages/snapshots.ts'
import { tokens } from '#/messages/tokens.ts'

type Said = { readonly [key: string]: string | Said }

/** Each text by its key, such as `frame.nav.signOut`. */
function textsOf(texts: Said, before = ''): Map<string, string> {
  const entries = Object.entries(texts).flatMap(([key, text]) =>
    typeof text === 'string' ? [[before + key, text] as const] : [...textsOf(text, `${before}${key}.`)],
  )
  return new Map(entries)
}

const all = { ...everyPage, admin, archive, data, groups, sessions, sharing, snapshots, tokens }
const [english, german] = [textsOf(inLanguage(all, 'en')), textsOf(inLanguage(all, 'de'))]

/** Names, and words that are the same in both languages; only such are added. */
const same = new Set([
  'Berth',
  'Berth {version}',
  '({size, number, ::.#} MiB)',
  '{page} · Berth',
  'English',
  'Deutsch',
  'Administrator',
  'Container',
  'Container {name}',
  'Export',
  'Filter',
  'Image',
  'Name',
  'Port',
  'Ports',
  'Repository',
  'Status',
  'Version {version}',
  'Median',
  'System',
  'NetworkPolicies',
  'GPUs',
])

test('no text is empty', () => {
  for (const [key, text] of [...english, ...german]) assert.notEqual(text.trim(), '', key)
})

test('a text takes the same arguments and tags in both languages', () => {
  for (const [key, text] of english) assert.deepEqual(holesOf(german.get(key) ?? ''), holesOf(text), key)
})

test('every text is translated, except those that are the same in both languages', () => {
  const left = [...english].filter(([key, text]) => german.get(key) === text && /\p{L}{2}/u.test(withoutHoles(text)))
  const unexpected = left.filter(([, text]) => !same.has(text))
  assert.deepEqual(Object.fromEntries(unexpected), {})
})

test('German addresses one user with du, and no text begs or exclaims', () => {
  for (const [key, text] of german)
    assert.doesNotMatch(text, /[\p{L},] (Sie|Ihnen|Ihre?[nmrs]?)\b|\bbitte\b(?! (d?einen|darum))|!/u, key)
  for (const [key, text] of english) assert.doesNotMatch(text, /\b(please|oops|sorry)\b|!/i, key)
})

test('the parser of arguments finds each argument and tag', () => {
  const text =
    'A <b>{x}</b> {n, plural, one {# day {z}} other {days}} {d, date, short} {s, select, a {one} other {<i>t</i>}}'
  assert.deepEqual(holesOf(text), ['<b>', '<i>', 'd date', 'n plural', 's select', 'x', 'z'])
})

/** Arguments with their kind, and tags of an ICU message; each once, in alphabetical order. */
function holesOf(text: string): string[] {
  const holes = new Set<string>()
  readMessage(text, 0, holes)
  return [...holes].toSorted()
}

/** The text without its arguments, tags and choices. */
const withoutHoles = (text: string) => text.replace(/<[^>]*>|\{\w+\}/g, '')

/** @returns where the message ends: at a brace that it did not open, or at the end of the text */
function readMessage(text: string, from: number, holes: Set<string>): number {
  let at = from
  while (at < text.length && text[at] !== '}') {
    const tag = /^<(\w+)>/.exec(text.slice(at))
    if (tag) holes.add(`<${tag[1]}>`)
    at = text[at] === '{' ? readArgument(text, at, holes) : at + 1
  }
  return at
}

/** @param from where its brace opens @returns the position after the closing brace */
function readArgument(text: string, from: number, holes: Set<string>): number {
  const [head = '', name, kind] = /^\{\s*(\w+)\s*(?:,\s*(\w+))?/.exec(text.slice(from)) ?? []
  assert.ok(name, `an argument without a name: ${text.slice(from)}`)
  holes.add(kind === undefined ? name : `${name} ${kind}`)
  let at = from + head.length
  // The choices of a plural or select are messages in braces of their own.
  while (text[at] !== '}') {
    assert.ok(at < text.length, `a brace is not closed: ${text}`)
    at = text[at] === '{' ? readMessage(text, at + 1, holes) + 1 : at + 1
  }
  return at + 1
}
