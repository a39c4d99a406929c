import type { Branding, LegalTextName } from '#/config/branding.ts'
import { refusals } from '#/refusals/errors.ts'
import type { Handlers } from '#/http/handlers/handler-types.ts'
import { contentLanguage } from '@berth/texts/language.ts'

/** Imprint and privacy notice. */
export function legalTextHandlers(branding: Branding | null): Pick<Handlers, 'legalText'> {
  const textOf = (name: string) => (isName(name) ? branding?.[name] : undefined)
  return {
    legalText: ({ params, client, reply }) => {
      const text = textOf(params.text)
      if (!text || 'url' in text) throw refusals.notFound('address')
      void reply.headers(contentLanguage(client.language))
      return { blocks: [...text.blocks[client.language]] }
    },
  }
}

const isName = (name: string): name is LegalTextName => name === 'imprint' || name === 'privacy'
