import { AuditWebhook } from '#/admin/audit-webhook.ts'
import type { AppParts } from './app-parts.ts'

/** Delivery of the audit log; undefined unless it is configured. Nothing runs before `start`. */
export function wireAuditWebhook({ config, database, installation, log, pace }: AppParts): AuditWebhook | undefined {
  if (config.auditWebhook === null) return undefined
  const { db } = database
  return new AuditWebhook({
    db,
    target: config.auditWebhook,
    installation,
    log,
    ...(pace?.auditWebhook && { pace: pace.auditWebhook }),
  })
}
