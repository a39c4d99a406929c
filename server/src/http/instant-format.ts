import type { Ajv } from '@fastify/ajv-compiler'

/**
 * Restricts the format `date-time` to instants that `Date` reads. The validator also accepts a leap second, as RFC 3339 does,
 * and an offset without minutes (`+01`): an invalid `Date` is neither before nor after any other, and is stored as null.
 */
export function requireReadableInstants(ajv: Ajv): void {
  const { validate } = ajv.formats['date-time'] as unknown as { readonly validate: (text: string) => boolean }
  ajv.addFormat('date-time', (text: string) => validate(text) && !Number.isNaN(Date.parse(text)))
}
