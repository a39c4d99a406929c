import { useQuery } from '@tanstack/react-query'
import { useTranslations } from 'use-intl/react'
import type { TextBlock, TextSpan } from '@berth/api/schemas/branding.ts'
import { createApiClient } from '#/api/api-client.ts'
import { QueryState } from '#/components/query-state.tsx'
import { useLanguage } from '#/i18n/i18n-provider.tsx'
import { Page } from './page.tsx'

/** Imprint or privacy notice, as the operator wrote it. */
export function LegalText({ text }: { text: 'imprint' | 'privacy' }) {
  const t = useTranslations('frame')
  const query = useQuery({
    queryKey: ['legal-text', text, useLanguage()],
    queryFn: async ({ signal }) => (await createApiClient(signal).legalText({ params: { text } })).blocks,
  })
  return (
    <Page title={t(text)}>
      <QueryState query={query} />
      {query.data && (
        <div className="legal-text">
          {query.data.map((block, index) => (
            <Block key={index} block={block} />
          ))}
        </div>
      )}
    </Page>
  )
}

function Block({ block }: { block: TextBlock }) {
  if (block.kind === 'list')
    return (
      <ul>
        {block.items.map((spans, index) => (
          <li key={index}>
            <Line spans={spans} />
          </li>
        ))}
      </ul>
    )
  if (block.kind === 'paragraph')
    return (
      <p>
        <Line spans={block.spans} />
      </p>
    )
  const Heading = block.level === 2 ? 'h2' : 'h3'
  return (
    <Heading>
      <Line spans={block.spans} />
    </Heading>
  )
}

function Line({ spans }: { spans: readonly TextSpan[] }) {
  return spans.map(({ text, href, is_bold: isBold }, index) => {
    if (href !== undefined)
      return (
        <a key={index} className="address" href={href}>
          {text}
        </a>
      )
    return isBold ? <strong key={index}>{text}</strong> : text
  })
}
