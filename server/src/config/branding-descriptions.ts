/** Description of a field of `BRANDING_FILE` in docs/reference/branding.md. */
export interface BrandingFieldDescription {
  /** Form of the value, as an example. */
  readonly example: string
  /** What it sets and its limits. Markdown without links. */
  readonly text: string
}

/** Every field of the file, in the order of the page; `readBranding` reads these and no others. */
export const brandingFields = {
  name: {
    example: '`Uni Lab`',
    text: 'Name of the installation, in place of "Berth": pages, titles of tabs, mails. 1 to 60 characters, none of `< > { } #`.',
  },
  logo: {
    example: '`logo.svg`',
    text: 'Image beside the name: SVG, or PNG with sides of 16 to 2,048 pixels, of at most 128 KiB. The path is relative to this file. Contents are checked: an SVG image with scripts, event handlers, links, other files or character references is refused.',
  },
  colors: {
    example: '`{accent: "#8a1538"}`',
    text: '`accent`: links and buttons on light grounds. `accent_dark`: the same on dark grounds; without it the accent is lightened until it is readable. A colour with a contrast below 4.5:1 (WCAG 2.2 AA) with a ground of the pages is refused, with its contrast.',
  },
  imprint: {
    example: '`https://www.example.org/imprint`',
    text: 'Linked on every page: an `http(s)` address, a path of a text file, or such paths by language (`{en: imprint.en.md, de: imprint.de.md}`). The text may have headings (`#`, `##`), paragraphs, lists (`- `), `**bold**` and `[links](https://example.org)`; everything else, HTML included, is shown as text. At most 100,000 characters.',
  },
  privacy: { example: '`privacy.md`', text: 'The privacy notice, likewise.' },
  notices: {
    example: '`[{text: "Closed on Friday", until: 2026-12-19}]`',
    text: 'At most ten notices that stand on every page: `text` (one line of at most 300 characters, or `{en: ..., de: ...}`), and `from` and `until` (left out: no limit): a date, which includes the day, or a time such as `2026-12-19T08:00`, in the time zone `TZ`, or with a zone of its own (`2026-12-19T08:00+01:00`).',
  },
} as const satisfies Record<string, BrandingFieldDescription>

export type BrandingField = keyof typeof brandingFields
