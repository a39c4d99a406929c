import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { findCatalogueEntry } from '#/templates/catalogue.ts'
import { runCommand } from '#test/support/command-line.ts'
import type { Fields } from './run-app.ts'

/** The template of the catalogue, word by word. */
export function catalogueTemplate(name: string): Fields {
  const entry = findCatalogueEntry(name)
  assert.ok(entry, `the catalogue has no ${name}`)
  return entry.fields
}

interface Found {
  readonly level: string
  readonly what: string
}

/** What `berth templates try` says of a template of the catalogue with another image. */
export async function tryHere(name: string, image: string): Promise<{ works: boolean; findings: Found[] }> {
  const folder = mkdtempSync(path.join(tmpdir(), 'berth-try-app-'))
  try {
    const settings = { DATA_DIR: path.join(folder, 'data'), TMPDIR: folder, HOME: folder }
    const { stdout, stderr } = await runCommand(settings, 'templates', 'try', name, '--image', image, '--json')
    assert.notEqual(stdout, '', stderr)
    const { works, attempts } = JSON.parse(stdout) as { works: boolean; attempts: { findings: Found[] }[] }
    return { works, findings: attempts[0]?.findings.filter(({ level }) => level === 'breaks') ?? [] }
  } finally {
    rmSync(folder, { recursive: true, force: true, maxRetries: 5 })
  }
}
