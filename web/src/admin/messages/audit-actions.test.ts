import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createTranslator } from 'use-intl/core'
import { languages } from '@berth/api/boot.ts'
import { audit } from '#/admin/messages/audit.ts'
import { inLanguage } from '#/i18n/texts.ts'
import { auditActionsPage } from '../../../../server/reference/audit-actions.ts'
import type { AuditAction } from '@berth/api/audit-actions.ts'

const all = Object.entries(audit.action).flatMap(([group, words]) =>
  Object.keys(words).map((name) => `${group}.${name}` as AuditAction),
)

test('the catalogue has text for every action of the audit log, and for no other', () => {
  const rows = auditActionsPage().matchAll(/^\|([^|]*)\|/gm)
  const documented = [...rows].flatMap(([, cell = '']) =>
    [...cell.matchAll(/`([a-z]+\.[a-z-]+)`/g)].map(([, name]) => name),
  )
  assert.ok(documented.length > 10)
  assert.deepEqual(all.toSorted(), documented.toSorted())
})

for (const locale of languages)
  test(`each action has its own sentence and name in ${locale}`, () => {
    const t = createTranslator({ locale, messages: inLanguage(audit, locale) })
    const values = {
      actor: 'ADA',
      person: 'BO',
      container: () => 'BOX',
      containers: 2,
      group: 'BOG',
      environment: 'BOE',
      purpose: 'login',
    }
    const sentences = all.map((action) =>
      t.markup(`sentence.${action}`, { ...values, b: (text: string) => text } as unknown as Parameters<
        typeof t.markup
      >[1]),
    )
    // Who downloads an archive by a mailed link may have no account, and is named as the one concerned.
    const unnamed = sentences.filter((sentence) => !/ADA/.test(sentence))
    assert.deepEqual(unnamed, [sentences[all.indexOf('user.download-archive')]])
    for (const sentence of sentences) assert.match(sentence, /BO|BOX|schlüssel|key|SSH|templates|Vorlagen/i)
    assert.equal(new Set(sentences).size, all.length)
    assert.equal(new Set(all.map((action) => t(`action.${action}`))).size, all.length)
  })
