import { openApiDocument } from '@berth/api/openapi.ts'
import type { SigningKeys } from '#/accounts/sessions/signing-keys.ts'
import type { Handlers } from '#/http/handlers/handler-types.ts'

export interface DiscoveryParts {
  readonly key: SigningKeys
  readonly spawnerUrl: string
}

/** Discovery: public keys (JWKS) and the OpenAPI document. */
export function discoveryHandlers({ key, spawnerUrl }: DiscoveryParts): Pick<Handlers, 'jwks' | 'openApi'> {
  const document = openApiDocument(spawnerUrl)
  const text = JSON.stringify(document)
  return {
    jwks: () => ({ keys: key.jwks.keys.map((each) => ({ ...each })) }),
    openApi: ({ reply }) => {
      void reply.type('application/json; charset=utf-8')
      // Serialized once: the document has 100 KB, and serializing it for each request takes a millisecond.
      return text as unknown as typeof document
    },
  }
}
