import type { Config } from '#/config/config.ts'

/** Value of `Strict-Transport-Security`; null: the header is not sent. */
export const strictTransportOf = (tls: Config['tls']): string | null =>
  tls && tls.hstsMaxAge > 0 ? `max-age=${tls.hstsMaxAge}` : null
