import assert from 'node:assert/strict'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { after, test } from 'node:test'
import { parseText, readBranding } from './branding.ts'

const folder = mkdtempSync(path.join(os.tmpdir(), 'berth-branding-'))
after(() => rmSync(folder, { recursive: true }))

const file = path.join(folder, 'branding.yaml')
const put = (name: string, content: string | Buffer) => writeFileSync(path.join(folder, name), content)
const read = (text: string) => readBranding(text, file, 'Europe/Berlin')
const problemsOf = (text: string) => read(text).problems.map((each) => each.replace(`BRANDING_FILE (${file}): `, ''))
const good = (text: string) => {
  const { branding, problems } = read(text)
  assert.deepEqual(problems, [])
  assert.ok(branding)
  return branding
}

const svg = (inside: string) => `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 8 8">${inside}</svg>`
/** The head of a PNG image of this size, and its end; no viewer is asked. */
function png(width: number, height: number): Buffer {
  const bytes = Buffer.alloc(45)
  Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]).copy(bytes)
  bytes.write('IHDR', 12, 'latin1')
  bytes.writeUInt32BE(width, 16)
  bytes.writeUInt32BE(height, 20)
  bytes.write('IEND', 37, 'latin1')
  return bytes
}

test('a drawing and a picture are taken as logos by what they contain, and named by it', () => {
  put(
    'plain.svg',
    `<?xml version="1.0"?>\n<!-- made by a tool -->\n${svg('<use href="#a"/><path id="a" d="M0 0"/>')}\n`,
  )
  const { logo } = good('logo: plain.svg')
  assert.equal(logo?.mediaType, 'image/svg+xml')
  assert.match(logo.fileName, /^logo-[\w-]{12}\.svg$/)
  put('picture.svg', png(64, 64))
  assert.match(good('logo: picture.svg').logo?.fileName ?? '', /\.png$/)
})

const refusedDrawings: Readonly<Record<string, string>> = {
  'an address behind an escape of styles': svg('<style>rect{fill:\\75rl(http://evil.example/x)}</style>'),
  'another encoding': `<?xml version="1.0" encoding="utf-7"?>${svg('')}`,
  'a script': svg('<script>alert(1)</script>'),
  'a script with a prefix': svg('<svg:script>alert(1)</svg:script>'),
  'an event handler': svg('<rect onload="alert(1)"/>'),
  'an event handler behind a line break': svg('<rect\nonclick = "alert(1)"/>'),
  'foreign content': svg('<foreignObject><body/></foreignObject>'),
  'a link with a script': svg('<a href="javascript:alert(1)"><rect/></a>'),
  'an animation that sets an address': svg('<animate attributeName="href" to="x"/>'),
  'another file': svg('<image href="https://x.org/a.png"/>'),
  'another file by the old name': svg(`<use xlink:href = 'a.svg#b'/>`),
  'a style that loads': svg('<style>@import "https://x.org/a.css"</style>'),
  'a fill that loads': svg('<rect fill="url(https://x.org/a)"/>'),
  entities: `<!DOCTYPE svg [<!ENTITY a "b">]>${svg('')}`,
  'hidden characters': svg('<rect o&#110;load="a"/>'),
  'a style sheet': `<?xml version="1.0"?><?xml-stylesheet href="a.css"?>${svg('')}`,
  'no drawing': '<html><svg xmlns="http://www.w3.org/2000/svg"></svg></html>',
  'no name space': '<svg></svg>',
}
for (const [name, content] of Object.entries(refusedDrawings))
  test(`a logo is refused with ${name}`, () => {
    put('bad.svg', content)
    const [problem = '', ...others] = problemsOf('logo: bad.svg')
    assert.match(problem, /^line 1: logo /)
    assert.deepEqual(others, [])
  })

test('a logo is refused when it is missing, too large, or has too few pixels', () => {
  assert.match(problemsOf('logo: missing.svg')[0] ?? '', /logo cannot be read/)
  put('large.svg', svg('x'.repeat(140_000)))
  assert.match(problemsOf('logo: large.svg')[0] ?? '', /has 1400\d\d bytes; at most 131072 are allowed/)
  put('small.png', png(8, 64))
  assert.match(problemsOf('logo: small.png')[0] ?? '', /has 8 x 64 pixels/)
})

test('every problem is reported with its line and field', () => {
  assert.deepEqual(problemsOf('name: "<b>"\ncolours: {}\ncolors: {accent: "#ff0"}\nimprint: 5'), [
    'line 2: colours is not a field of the branding; known: name, logo, colors, imprint, privacy, notices',
    'line 1: name must have 1 to 60 characters, none of < > { } #',
    'line 3: colors accent: #ffff00 has a contrast of 1.01:1 with #f3f6f7 of the pages, and WCAG 2.2 AA requires 4.5:1; choose a darker colour',
    'line 4: imprint must be an http(s) address, the path of a text file, or such paths by language (en, de)',
  ])
  assert.match(problemsOf('a: [')[0] ?? '', /^Flow sequence/)
  assert.deepEqual(problemsOf('[]'), ['must be a map of branding fields'])
})

test('times of notices are in the time zone of the installation, and a date includes its day', () => {
  const { notices } = good(`notices:
  - text: Closed
    from: 2026-12-19
    until: 2026-12-19
  - text: {de: Wartung, en: Maintenance}
    from: 2026-07-01T08:00
    until: 2026-07-01T08:00Z
`)
  assert.deepEqual(notices, [
    { text: { en: 'Closed', de: 'Closed' }, from: '2026-12-18T23:00:00.000Z', until: '2026-12-19T23:00:00.000Z' },
    { text: { en: 'Maintenance', de: 'Wartung' }, from: '2026-07-01T06:00:00.000Z', until: '2026-07-01T08:00:00.000Z' },
  ])
})

const refusedNotices = [
  '[{}]',
  '[{text: ""}]',
  '[{text: a, from: soon}]',
  '[{text: a, until: 2026-02-31}]',
  '{}',
  '[{text: a, colour: b}]',
  '[{text: a, from: 2026-12-20, until: 2026-12-18}]',
  '[{text: {fr: a}}]',
]
for (const notices of refusedNotices)
  test(`notices are refused: ${notices}`, () => {
    assert.match(problemsOf(`notices: ${notices}`)[0] ?? '', /^line 1: notices /)
  })

test('a legal text may have a file for each language; an address stays an address', () => {
  put('privacy.de.md', '# Datenschutz')
  put('privacy.en.md', '# Privacy')
  const { privacy, imprint } = good('privacy: {en: privacy.en.md, de: privacy.de.md}\nimprint: https://x.org/imprint')
  assert.deepEqual(privacy, {
    blocks: {
      en: [{ kind: 'heading', level: 2, spans: [{ text: 'Privacy' }] }],
      de: [{ kind: 'heading', level: 2, spans: [{ text: 'Datenschutz' }] }],
    },
  })
  assert.deepEqual(imprint, { url: 'https://x.org/imprint' })
  assert.match(problemsOf('imprint: gone.md')[0] ?? '', /imprint cannot read/)
})

test('a text has headings, paragraphs, lists, bold words and links; everything else is text', () => {
  const blocks = parseText(
    '## Who\nWe, **the school**,\nat [our page](https://x.org/a).\n- one\n- two\n  and more\n\n<script>alert(1)</script>',
  )
  assert.deepEqual(blocks, [
    { kind: 'heading', level: 3, spans: [{ text: 'Who' }] },
    {
      kind: 'paragraph',
      spans: [
        { text: 'We, ' },
        { text: 'the school', is_bold: true },
        { text: ', at ' },
        { text: 'our page', href: 'https://x.org/a' },
        { text: '.' },
      ],
    },
    { kind: 'list', items: [[{ text: 'one' }], [{ text: 'two and more' }]] },
    { kind: 'paragraph', spans: [{ text: '<script>alert(1)</script>' }] },
  ])
})

test('a link of a text leads to web and mail addresses alone', () => {
  for (const address of ['javascript:alert(1)', 'data:text/html,x', '/ann-dev/', '//x.org', 'JAVASCRIPT:alert(1)'])
    assert.deepEqual(parseText(`[a](${address})`), [{ kind: 'paragraph', spans: [{ text: `[a](${address})` }] }])
})
