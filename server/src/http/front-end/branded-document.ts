import type { BrandingData, Language, Notice } from '@berth/api/boot.ts'
import { pages } from '@berth/web/paths.ts'
import { productName, type Branding, type LegalText } from '#/config/branding.ts'
import type { Logo } from '#/config/read-logo.ts'
import type { Asset } from './static-assets.ts'

const htmlEntities: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' }
const escaped = (text: string) => text.replace(/[&<>"]/g, (character) => htmlEntities[character] ?? character)

/** Path of the logo. */
export const logoPath = ({ fileName }: Logo) => `/assets/${fileName}`

/**
 * The front end's document with name, logo and colours of the installation, so that the first paint has them. The
 * colours come last in the head, with the nonce of the response.
 * @param html as the build made it
 */
export function brandedDocument(html: string, branding: Branding | null): string {
  if (!branding) return html
  const { name, logo, theme } = branding
  const [, icon] = /<link rel="icon"[^>]*href="([^"]+)"/.exec(html) ?? []
  const withLogo =
    logo && icon !== undefined
      ? html.replaceAll(`"${icon}"`, `"${logoPath(logo)}"`).replace('type="image/svg+xml"', `type="${logo.mediaType}"`)
      : html
  const named =
    name === null
      ? withLogo
      : withLogo
          .replace(`<title>${productName}</title>`, () => `<title>${escaped(name)}</title>`)
          .replace(`>${productName}</a>`, () => `>${escaped(name)}</a>`)
  const noticed = branding.notices.length === 0 ? named : named.replace('</header>', `</header>${noticesPlaceholder}`)
  return theme === null
    ? noticed
    : noticed.replace('</head>', `<style nonce="__BERTH_NONCE__">${theme.css}</style></head>`)
}

/** Where the notices of a moment stand, in the document's language. */
export const noticesPlaceholder = '__BERTH_NOTICES__'

/** The notices of a moment, as the page draws them: the first paint has them, and nothing moves when the script has come. */
export function noticesHtml({ notices }: Branding, language: Language, now: Date): string {
  const isCurrent = ({ from, until }: Notice) =>
    (from === null || Date.parse(from) <= now.getTime()) && (until === null || Date.parse(until) > now.getTime())
  return notices
    .filter(isCurrent)
    .map(({ text }) => `<p class="notice">${escaped(text[language])}</p>`)
    .join('')
}

/** What the pages need of the branding. @param now notices that have ended are left out */
export function brandingData(branding: Branding, now: Date): BrandingData {
  const { name, logo, imprint, privacy, notices } = branding
  return {
    name,
    logo: logo && logoPath(logo),
    imprint: imprint && addressOf(imprint, pages.imprint),
    privacy: privacy && addressOf(privacy, pages.privacy),
    notices: notices.filter(({ until }) => until === null || Date.parse(until) > now.getTime()),
  }
}

const addressOf = (text: LegalText, page: string) => ('url' in text ? text.url : page)

/**
 * The logo as a file below `/assets/`. The browser draws an image of any origin without running anything in it; the
 * policy is for who opens its address: no script of an SVG image may run on this origin, whatever the check missed.
 */
export function logoAsset({ bytes, mediaType, fileName }: Logo): readonly [name: string, asset: Asset] {
  const headers = {
    'content-type': mediaType,
    'cache-control': 'public, max-age=31536000, immutable',
    'content-security-policy': "default-src 'none'; style-src 'unsafe-inline'; sandbox",
    // Pages at the hosts of containers show it, too.
    'cross-origin-resource-policy': 'cross-origin',
    'x-content-type-options': 'nosniff',
    etag: `"${fileName}"`,
    vary: 'Accept-Encoding',
  }
  return [fileName, new Map([['identity', { bytes, headers }]])]
}
