import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Command } from 'commander'
import { addCommands } from '#/command.ts'
import { auditCommands } from './audit-command.ts'

test('days and instants of a filter are ISO 8601', () => {
  const program = new Command().exitOverride()
  addCommands(program, async () => undefined, { audit: auditCommands })
  const parse = (since: string) => program.parse(['audit', 'list', '--since', since], { from: 'user' })
  for (const since of ['2026-12-11', '2026-12-11T14:00Z', '2026-12-11T14:00:00+01:00'])
    assert.doesNotThrow(() => parse(since))
  for (const since of ['11.12.2026', '12/11/2026', '11', '2026-13-01', 'yesterday'])
    assert.throws(() => parse(since), /is no day or instant such as 2026-11-21/)
})
