import assert from 'node:assert/strict'
import { test } from 'node:test'
import { languages } from '@berth/api/boot.ts'
import { localize as sayPlainly } from '@berth/gateway/pages/localize-plain.ts'
import { en, type Area } from './english.ts'
import { de } from './german.ts'
import { localize } from './localize.ts'
import { LocalizedMessage, list, message, type MessageKey } from './localized-message.ts'

/** What is the same in both languages, because it is no sentence. */
const sameInBoth = new Set([
  'gateway.absent',
  'pages.crashedWhat',
  'pages.refusedWhat',
  'pages.status',
  'warnings.engineFailed',
  'words.comma',
  'words.semicolon',
  'words.nothing',
  'words.gib',
  'words.mib',
])
/** Said in the gateway process, without a library. */
const plainAreas: readonly Area[] = ['faults', 'gateway', 'pages']

const all = Object.entries(en).flatMap(([area, texts]) =>
  Object.entries(texts).map(([name, text]) => ({ key: `${area}.${name}` as MessageKey, area, name, text })),
)
const germanOf = ({ area, name }: { area: string; name: string }) =>
  (de as Record<string, Readonly<Record<string, string>>>)[area]?.[name] ?? ''

/** Names of a message's arguments; what stands in apostrophes is text (ICU). */
const argumentsOf = (text: string) => [
  ...new Set(
    [
      ...text
        .replaceAll("''", '')
        .replaceAll(/'\{[^']*'/g, '')
        .matchAll(/\{(\w+)(?=[,}])/g),
    ].map(([, name = '']) => name),
  ),
]
const samplesFor = (text: string) =>
  Object.fromEntries(argumentsOf(text).map((name) => [name, /\{\w+, (number|plural)/.test(text) ? 7 : `<${name}>`]))

test('every message is there in each language, with the same arguments', () => {
  assert.ok(all.length > 200, `only ${all.length} messages`)
  for (const each of all) {
    assert.deepEqual(argumentsOf(germanOf(each)).sort(), argumentsOf(each.text).sort(), each.key)
    for (const language of languages) {
      const said = localize(language, new LocalizedMessage(each.key, samplesFor(each.text)))
      assert.doesNotMatch(said, /\{(?!")|undefined/, each.key)
    }
  }
})

test('no German message is its English one, but for those that are no sentences', () => {
  const same = all.filter((each) => germanOf(each) === each.text).map(({ key }) => key)
  assert.deepEqual(new Set(same), sameInBoth)
})

test('German addresses people as friends do', () => {
  const formal = all.filter((each) => /\b(Ihnen|Ihrem|Ihren|Ihres|Sie (haben|können|müssen))\b|!/.test(germanOf(each)))
  assert.deepEqual(
    formal.map(({ key }) => key),
    [],
  )
})

test('what the gateway says without a library is what the library would say', () => {
  const plain = all.filter(({ area }) => plainAreas.includes(area as Area))
  assert.ok(plain.length > 100)
  for (const { key, text } of plain)
    for (const language of languages) {
      const sample = new LocalizedMessage(key, samplesFor(text))
      assert.equal(sayPlainly(language, sample), localize(language, sample))
    }
})

test('a message within a message is in the same language, and what a person wrote is never taken for an argument', () => {
  const nested = message('refusals.launchGoesOn', { howFar: message('launches.waits', { place: 3, waiting: 12_000 }) })
  assert.match(
    localize('de', nested),
    /^Dein Container ist in der Warteschlange: Position 3 von 12000\. Der Start geht/,
  )
  const hostile = message('pages.asleepTitle', { name: "'{name}' <b>{x, plural, other {}}</b>" })
  for (const speak of [localize, sayPlainly])
    assert.equal(speak('en', hostile), "'{name}' <b>{x, plural, other {}}</b> is stopped")
})

test('numbers and lists are those of the language', () => {
  const used = message('words.gib', { count: 1234.56 })
  assert.deepEqual(
    languages.map((language) => localize(language, used)),
    ['1234.6 GiB', '1234,6 GiB'],
  )
  const methods = message('refusals.wrongMethod', { methods: list('and', ['GET', 'POST', 'DELETE']) })
  assert.equal(localize('en', methods), 'This address answers GET and POST and DELETE only.')
  assert.equal(localize('de', methods), 'Diese Adresse antwortet nur auf GET und POST und DELETE.')
})
