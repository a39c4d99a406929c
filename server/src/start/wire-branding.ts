import { pages } from '@berth/web/paths.ts'
import type { Branding, LegalText } from '#/config/branding.ts'
import type { PageLook } from '@berth/gateway/port/gateway.ts'
import { logoPath } from '#/http/front-end/front-end-document.ts'
import { usualMailLook, type MailLook } from '#/accounts/mail/link-email.ts'

/** The branding as mails have it. */
export function mailLookOf({ name, theme }: Branding): MailLook {
  return { product: name ?? usualMailLook.product, accent: theme?.accent ?? usualMailLook.accent }
}

/** The branding as the gateway's own pages have it. @param frontendUrl host of logo and legal texts */
export function pageLookOf({ name, logo, theme, imprint, privacy, notices }: Branding, frontendUrl: string): PageLook {
  const linkOf = (text: LegalText | null, page: string) => text && ('url' in text ? text.url : frontendUrl + page)
  return {
    name,
    logoUrl: logo && frontendUrl + logoPath(logo),
    css: theme?.css ?? '',
    imprintUrl: linkOf(imprint, pages.imprint),
    privacyUrl: linkOf(privacy, pages.privacy),
    notices,
  }
}
