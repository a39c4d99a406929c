import assert from 'node:assert/strict'
import { globSync, readFileSync } from 'node:fs'
import path from 'node:path'
import { test } from 'node:test'
import { root } from './support/imports.ts'

/** Units of systemd as the pages print them, for those who install without the package. */

interface PrintedUnit {
  readonly page: string
  /** Values by section and key, such as `Service.Restart`. */
  readonly values: ReadonlyMap<string, string>
}

function unitsOf(page: string): PrintedUnit[] {
  const text = readFileSync(path.join(root, page), 'utf8')
  const blocks = [...text.matchAll(/^ *```(?:ini)?\n([^]*?)^ *```$/gm)].map(([, block = '']) => block)
  // A block may have several files, each with a comment that names it.
  const files = blocks.flatMap((block) => block.split(/^ *# (?=\/etc\/systemd\/system\/)/m))
  return files.filter((file) => /^ *\[Service\]$/m.test(file)).map((file) => ({ page, values: valuesOf(file) }))
}

function valuesOf(file: string): Map<string, string> {
  const values = new Map<string, string>()
  let section = ''
  for (const line of file.split('\n').map((each) => each.trim())) {
    section = /^\[(\w+)\]$/.exec(line)?.[1] ?? section
    const [, key, value] = /^(\w+)=(.*)$/.exec(line) ?? []
    if (key !== undefined && value !== undefined) values.set(`${section}.${key}`, value)
  }
  return values
}

const units = globSync('docs/**/*.md', { cwd: root }).flatMap(unitsOf)

test('a printed unit of the service starts it again however often it ends', () => {
  // Without both, systemd gave up after five starts within ten seconds, such as while a setting was wrong or the database away.
  const services = units.filter(({ values }) => values.get('Service.Restart') === 'always')
  assert.equal(services.length, 2)
  for (const { page, values } of services) {
    assert.equal(values.get('Service.RestartSec'), '2', page)
    assert.equal(values.get('Unit.StartLimitIntervalSec'), '0', page)
  }
})

test('printed units leave berth.env to Berth, whose syntax is not that of systemd', () => {
  assert.ok(units.length >= 3)
  for (const { page, values } of units) {
    assert.equal(values.get('Service.EnvironmentFile'), undefined, page)
    if (!values.has('Service.WorkingDirectory'))
      assert.match(values.get('Service.Environment') ?? '', /\bBERTH_ENV_FILE=\/etc\/berth\/berth\.env\b/, page)
  }
})
