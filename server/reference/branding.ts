import { brandingFields } from '#/config/branding-descriptions.ts'
import { code, page, table } from './markdown.ts'

const introduction = `The file \`BRANDING_FILE\` is a map of these fields as YAML or JSON; each may be left out, and keeps Berth's own look then. It and the files that it names are read and checked at the start and at SIGHUP; a mistake is an error with line and field. [How to use it](../how-to/brand-an-installation.md).

\`\`\`yaml
name: Uni Lab
logo: logo.svg
colors:
  accent: "#8a1538"
imprint: https://www.example.org/imprint
privacy:
  en: privacy.en.md
  de: privacy.de.md
notices:
  - text:
      en: No containers on Saturday from 8 to 12, because of maintenance.
      de: Am Samstag von 8 bis 12 Uhr laufen wegen Wartung keine Container.
    from: 2026-12-14
    until: 2026-12-19T12:00
\`\`\``

/** docs/reference/branding.md */
export function brandingPage(): string {
  const rows = Object.entries(brandingFields).map(([name, { example, text }]) => [code(name), example, text])
  return page(
    'Branding',
    'server/src/config/branding-descriptions.ts',
    introduction,
    table(['field', 'example', 'meaning'], rows),
  )
}
