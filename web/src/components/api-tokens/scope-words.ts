import type { Scope } from '@berth/api/scopes.ts'

/** The key of a scope's words: message keys hold no colon. */
export const scopeWords = {
  'containers:read': 'containersRead',
  'containers:write': 'containersWrite',
  'admin:read': 'adminRead',
  'admin:write': 'adminWrite',
} as const satisfies Record<Scope, string>
