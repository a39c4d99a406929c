import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'
import { contrastRatio, parseColor, themeOf, type Rgb } from './theme.ts'

const rgb = (text: string): Rgb => {
  const color = parseColor(text)
  assert.ok(color, text)
  return color
}

test('contrast is that of WCAG 2.2: 21:1 for black on white, 4.54:1 for #767676 on white', () => {
  assert.equal(contrastRatio(rgb('#000'), rgb('#fff')), 21)
  assert.equal(contrastRatio(rgb('#767676'), rgb('#ffffff')).toFixed(2), '4.54')
  assert.equal(contrastRatio(rgb('#fff'), rgb('#767676')).toFixed(2), '4.54')
})

test('a colour that is hard to read is refused with its contrast and the required one', () => {
  const read = themeOf('#ffcc00', '#223344')
  assert.deepEqual(read, {
    problems: [
      {
        color: 'accent',
        what: '#ffcc00 has a contrast of 1.33:1 with #edf1f3 of the pages, and WCAG 2.2 AA requires 4.5:1; choose a darker colour',
      },
      {
        color: 'accent_dark',
        what: '#223344 has a contrast of 1.00:1 with #26343c of the pages, and WCAG 2.2 AA requires 4.5:1; choose a lighter colour',
      },
    ],
  })
})

test('what is no colour, or could end the rule, is refused', () => {
  for (const text of ['red', '#12', '#8a1538;}body{display:none', 'url(x)', ''])
    assert.ok('problems' in themeOf(text, undefined), text)
})

test('without a colour for dark grounds the accent is lightened until it is readable there', () => {
  for (const accent of ['#8a1538', '#000000', '#0b5d73', '#1a1aff', '#7a4b00']) {
    const read = themeOf(accent, undefined)
    assert.ok('theme' in read, accent)
    for (const ground of ['#19242b', '#10181d', '#26343c', '#0a2730'])
      assert.ok(contrastRatio(rgb(read.theme.accentDark), rgb(ground)) >= 4.5, `${accent} on ${ground}`)
  }
})

test('the grounds that colours are checked against are those of the pages', () => {
  const css = readFileSync(new URL('../../../web/src/styles/base.css', import.meta.url), 'utf8')
  const own = readFileSync(new URL('./theme.ts', import.meta.url), 'utf8')
  for (const name of ['--ground', '--idle-wash', '--surface', '--on-accent'])
    for (const [, color = ''] of css.matchAll(new RegExp(`${name}: (#[0-9a-f]{6})`, 'g')))
      assert.ok(
        own.includes(
          rgb(color)
            .map((part) => `0x${part.toString(16).padStart(2, '0')}`)
            .join(', '),
        ),
        `${name}: ${color}`,
      )
})
