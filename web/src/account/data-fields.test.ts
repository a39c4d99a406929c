import assert from 'node:assert/strict'
import { test } from 'node:test'
import { PersonalDataResponse } from '@berth/api/schemas/personal-data.ts'
import { data } from '#/messages/account.ts'

// A field without a name ends the whole page: it did for each user of whom a sum of use was kept.
test('the page "Your data" has a name for every field that the API may answer', () => {
  const { format: _format, made_at: _madeAt, kept_for: _keptFor, account, ...lists } = PersonalDataResponse.properties
  const rows = [account, ...Object.values(lists).map(({ items }) => items)]
  const fields = new Set(rows.flatMap(({ properties }) => Object.keys(properties)))
  assert.deepEqual(Object.keys(data.field).toSorted(), [...fields].toSorted())
})
