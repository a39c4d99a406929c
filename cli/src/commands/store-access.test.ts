import assert from 'node:assert/strict'
import { test } from 'node:test'
import { DatabaseError } from 'pg'
import { CommandFailed } from '#/command-failure.ts'
import { inWords } from './store-access.ts'

test('what PostgreSQL refuses is told in its words, and is no bug of Berth', () => {
  // A full disk of the database was reported as "this is a bug", with the stack.
  const refused = new DatabaseError('could not extend file: No space left on device', 100, 'error')
  refused.severity = 'ERROR'
  const told = inWords(refused)
  assert.ok(told instanceof CommandFailed)
  assert.equal(told.message, 'PostgreSQL refuses it: could not extend file: No space left on device')
  const bug = new TypeError('x is not a function')
  assert.equal(inWords(bug), bug)
})
