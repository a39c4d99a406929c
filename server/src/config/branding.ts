import type { Language, Notice } from '@berth/api/boot.ts'
import type { TextBlock } from '@berth/api/schemas/branding.ts'
import type { Logo } from './read-logo.ts'
import type { Theme } from './theme.ts'

/** Names of the texts that the law of many countries asks for. */
export type LegalTextName = 'imprint' | 'privacy'

/** A legal text: kept elsewhere, or served by Berth in each language. */
export type LegalText = { readonly url: string } | { readonly blocks: Readonly<Record<Language, readonly TextBlock[]>> }

/** How an installation presents itself, as `BRANDING_FILE` says. What is null keeps Berth's own look. */
export interface Branding {
  readonly name: string | null
  readonly logo: Logo | null
  readonly theme: Theme | null
  readonly imprint: LegalText | null
  readonly privacy: LegalText | null
  /** In the order of the file, past and future ones included. */
  readonly notices: readonly Notice[]
}

/** Name of the product where the installation has none of its own. */
export const productName = 'Berth'
