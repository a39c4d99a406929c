import assert from 'node:assert/strict'
import { test } from 'node:test'
import { readImports, sources } from './support/imports.ts'

const imports = readImports()

test('imports of our own run in no circle, those of types included', () => {
  const targets = Map.groupBy(imports, ({ file }) => file)
  const visit = (file: string, trail: readonly string[]): void => {
    if (trail.includes(file)) assert.fail([...trail, file].join(' -> '))
    if (seen.has(file)) return
    for (const { target } of targets.get(file) ?? []) visit(target, [...trail, file])
    seen.add(file)
  }
  const seen = new Set<string>()
  for (const file of sources) visit(file, [])
})
