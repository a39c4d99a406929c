import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import path from 'node:path'
import { test } from 'node:test'
import { languages } from '@berth/api/boot.ts'
import { message } from '@berth/texts/localized-message.ts'
import { localize } from './localize-plain.ts'
import type { Unavailable, Explanation } from '#/port/gateway.ts'
import {
  exitCodeInWords,
  unavailableBody,
  unavailablePage,
  type UnavailableReason,
  type UnavailableView,
} from './unavailable.ts'
import { pagePolicy } from './document.ts'
import { progressFailed, progressHead, progressReady, progressStep } from './progress.ts'
import { refusalPage } from './gateway-response.ts'

const view: UnavailableView = {
  prefix: 'ann-dev',
  displayName: 'Development',
  isOwner: true,
  launchHref: 'http://berth.test/launch?type=dev&next=%2Fann-dev%2F',
  dashboardUrl: 'http://berth.test/',
  language: 'en',
}
const stranger = { ...view, isOwner: false }

const explained = (unavailable: Unavailable | undefined, lastLines: readonly string[] = []): Explanation => ({
  unavailable,
  lastLines,
  displayName: 'Development',
})
const absent = (word: Unavailable['reason'], exitCode: number | null = null): Unavailable => ({
  reason: word,
  exitCode,
})

const refused: Unavailable = {
  ...absent('asleep'),
  refusal: {
    en: 'The limit "running" of the group Chess leaves no room.',
    de: 'Die Grenze „running“ lässt keinen Platz.',
  },
}

/** Every reason there is, with what its owner is offered. */
const reasons: readonly (readonly [name: string, reason: UnavailableReason, button: string, href: string])[] = [
  ['asleep', absent('asleep'), 'Start it', view.launchHref],
  ['evicted', absent('evicted'), 'Start it again', view.launchHref],
  ['node-lost', absent('node-lost'), 'Try again', view.launchHref],
  ['missing', absent('missing'), 'Start it', view.launchHref],
  ['crashed', absent('crashed', 139), 'Start it again', view.launchHref],
  // "Start it again" was said of a command that is not in the image.
  ['a command that was not found', absent('crashed', 127), 'Open the dashboard', view.dashboardUrl],
  ['out-of-memory', absent('out-of-memory', 137), 'Start it again', view.launchHref],
  ['no-image', absent('no-image'), 'Try again', view.launchHref],
  ['failed', absent('failed'), 'Try again', view.launchHref],
  ['unknown', absent('unknown'), 'Try again', ''],
  ['a limit refused the start', refused, 'Open the dashboard', view.dashboardUrl],
  ['running but silent', explained(undefined), 'Try again', ''],
  ['blocked', 'blocked', 'Open the dashboard', view.dashboardUrl],
]

const hostile = `</title></pre><script>alert("1")</script><img src=x onerror='a'>&amp;`
const hostileView: UnavailableView = {
  prefix: hostile,
  displayName: hostile,
  isOwner: true,
  launchHref: hostile,
  dashboardUrl: hostile,
  language: 'en',
}

/** Every kind of page, complete, with the same text in every place that takes text. */
function everyPage(text: UnavailableView, lines: readonly string[]): string[] {
  const { displayName, dashboardUrl, language } = text
  const named = message('pages.startingName', { name: displayName })
  const head = progressHead(text) + progressStep(named, language)
  return [
    refusalPage({ status: 404, title: named, message: named, dashboardUrl, language }),
    ...reasons.map(([, reason]) => unavailablePage(reason, text)),
    unavailablePage({ unavailable: absent('crashed', 1), lastLines: lines, displayName }, text),
    head + progressReady(text.launchHref, text),
    head + progressFailed(unavailableBody(explained(absent('failed'), lines), text), text),
  ]
}

for (const [name, reason, button, href] of reasons) {
  test(`${name}: the owner reads why, and has one thing to press: ${button}`, () => {
    const page = unavailablePage(reason, view)
    assert.match(page, /<h1>Development [a-z ]+<\/h1><\/div>\n<p>[^<]{20,}<\/p>\n<p>[^<]{20,}<\/p>/)
    assert.deepEqual(buttonsOf(page), [[href.replaceAll('&', '&amp;'), button]])
  })

  test(`${name}: another user is never sent to start it`, () => {
    assert.ok(!unavailablePage(reason, stranger).includes('/launch'))
  })
}

test('the owner sees the last lines; another user does not', () => {
  const reason = explained(absent('crashed', 1), ['Listening', 'Error: no such file'])
  assert.match(unavailablePage(reason, view), /tabindex="0">\n<pre [^>]*>\nListening\nError: no such file<\/pre>/)
  assert.ok(!unavailablePage(reason, stranger).includes('no such file'))
})

test('the owner reads why a start was refused in the own language; another user does not', () => {
  assert.match(
    unavailablePage(refused, view),
    /<p>The limit &quot;running&quot; of the group Chess leaves no room\.<\/p>/,
  )
  assert.match(
    unavailablePage(refused, { ...view, language: 'de' }),
    /<p>Die Grenze „running“ lässt keinen Platz\.<\/p>/,
  )
  assert.doesNotMatch(unavailablePage(refused, stranger), /Chess/)
})

test('an app that wrote nothing has no empty box', () => {
  assert.ok(!unavailablePage(explained(absent('crashed', 1)), view).includes('<pre'))
})

test('colours, invisible characters and endless lines of an app do not spoil the page', () => {
  const lines = ['\x1b[31mred\x1b[0m', '\x1b]0;title\x07after', 'a\u202Eb\x00c\td', 'x'.repeat(100_000)]
  const text = /<pre[^>]*>\n([^<]*)</.exec(unavailablePage(explained(absent('crashed', 1), lines), view))?.[1]
  assert.equal(text, `red\nafter\nabc\td\n${'x'.repeat(1000)}…`)
})

test('names, links and lines are text, never markup, on any page', () => {
  for (const page of everyPage(hostileView, [hostile])) {
    assert.ok(!/<script|<img/.test(page))
    assert.deepEqual(unclosed(page), [], 'a quote would end an attribute')
    assert.ok(page.includes('&lt;/title&gt;&lt;/pre&gt;&lt;script&gt;alert(&quot;1&quot;)'))
    assert.ok(page.includes('&amp;amp;'))
  }
})

test('every page is one well-formed document in its language with one policy for its styles', () => {
  for (const [page, language] of languages.flatMap((language) =>
    everyPage({ ...view, language }, ['a line']).map((page) => [page, language] as const),
  )) {
    assert.ok(page.startsWith(`<!doctype html>\n<html lang="${language}">`))
    assert.deepEqual(unclosed(page), [])
    const styles = [...page.matchAll(/<style>([^]*?)<\/style>/g)].map((match) => match[1] ?? '')
    assert.equal(styles.length, page.includes('class="steps"') ? 2 : 1)
    const hashes = styles.map((style) => createHash('sha256').update(style).digest('base64'))
    assert.ok(hashes.every((hash) => pagePolicy.includes(`'sha256-${hash}'`)))
    assert.ok(!/ style=|<script| on\w+=/.test(page), 'the policy would refuse these')
  }
})

test('colours are those of the front end, and so are the sizes of text and corners', async () => {
  const sheet = await readFile(path.join(import.meta.dirname, '../../../web/src/styles/base.css'), 'utf8')
  const tokens = new Set(
    [...sheet.matchAll(/(--[a-z-]+): ([^;]+);/g)].map(([, name = '', value = '']) => `${name}:${compact(value)}`),
  )
  const page = unavailablePage('blocked', view)
  const repeated = [...page.matchAll(/(--[a-z-]+):([^;{}]+)(?=[;}])/g)].map(
    ([, name, value = '']) => `${name}:${compact(value)}`,
  )
  assert.equal(repeated.length, 28)
  assert.deepEqual(
    repeated.filter((each) => !tokens.has(each)),
    [],
  )
  for (const [rule, token] of [
    [/h1\{font-size:([^;}]+)/, '--text-title'],
    [/h2\{font-size:([^;}]+)/, '--text-section'],
    [/\.hint\{[^}]*font-size:([^;}]+)/, '--text-small'],
    [/main\{[^}]*border-radius:([^;}]+)/, '--radius-card'],
    [/\.button\{[^}]*border-radius:([^;}]+)/, '--radius-control'],
  ] as const)
    assert.ok(tokens.has(`${token}:${compact(rule.exec(page)?.[1] ?? '')}`), token)
})

/** A value as both style sheets write it. */
const compact = (value: string) => value.replaceAll(/\s*([/,])\s*/g, '$1').replace(/^\./, '0.')

test('only a page whose app answers reloads, and at once: nothing that is read moves away', () => {
  const reloading = everyPage(view, ['a line']).filter((page) => page.includes('http-equiv'))
  assert.equal(reloading.length, 1)
  assert.match(reloading[0] ?? '', /<meta http-equiv="refresh" content="0">/)
})

test('moving on leads to the address that was asked for', () => {
  assert.match(progressReady('/ann-dev/a?b="1"&c', view), / content="0; url=\/ann-dev\/a\?b=&quot;1&quot;&amp;c">/)
})

for (const target of [
  '//evil.example/',
  '/\\evil.example',
  'https://evil.example/',
  'javascript:alert(1)',
  '*',
  '/a b',
]) {
  test(`moving on never leads to ${target}`, () => assert.ok(!progressReady(target, view).includes(target)))
}

const codes: readonly (readonly [number, RegExp])[] = [
  [1, /error of its own/],
  [127, /command was not found/],
  [137, /memory ran out/],
  [139, /crashed/],
  [159, /signal 31/],
  [255, /error of its own/],
]
for (const [code, words] of codes) {
  test(`exit code ${code} is said in words and as a number`, () => {
    const said = localize('en', exitCodeInWords(code))
    assert.match(said, words)
    assert.ok(said.includes(`(exit code ${code})`))
  })
}

function buttonsOf(page: string): string[][] {
  return [...page.matchAll(/<a class="button" href="([^"]*)">([^<]*)</g)].map((match) => match.slice(1, 3))
}

/** Names of elements that are closed in the wrong order or not at all. */
function unclosed(page: string): string[] {
  const open: string[] = []
  const markup = page.replaceAll(/<style>[^]*?<\/style>/g, '')
  for (const [, slash, name = '', end] of markup.matchAll(/<(\/?)([a-z]\w*)(?:[^<>"]|"[^"]*")*?(\/?)>/g)) {
    if (end === '/' || name === 'meta') continue
    if (slash !== '/') open.push(name)
    else if (open.pop() !== name) return [`</${name}>`]
  }
  return open
}
