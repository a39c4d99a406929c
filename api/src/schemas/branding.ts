import Type from 'typebox'

/** A piece of a line: plain, bold, or a link. Text alone, never markup. */
export const TextSpan = Type.Object({
  text: Type.String({ description: 'Text, without markup' }),
  is_bold: Type.Optional(Type.Boolean({ description: 'Present where it is emphasised' })),
  href: Type.Optional(Type.String({ description: 'Address (http, https or mailto) where it is a link' })),
})
export type TextSpan = Type.Static<typeof TextSpan>

const spans = Type.Array(TextSpan, { description: 'Pieces of the line, in order' })

/** A block of a legal text. */
export const TextBlock = Type.Union([
  Type.Object({
    kind: Type.Literal('heading'),
    level: Type.Union([Type.Literal(2), Type.Literal(3)], { description: 'Level of the heading on its page' }),
    spans,
  }),
  Type.Object({ kind: Type.Literal('paragraph'), spans }),
  Type.Object({ kind: Type.Literal('list'), items: Type.Array(spans, { description: 'Items of the list' }) }),
])
export type TextBlock = Type.Static<typeof TextBlock>

export const LegalTextParams = Type.Object({
  text: Type.String({ description: '`imprint` or `privacy`' }),
})

export const LegalTextResponse = Type.Object({
  blocks: Type.Array(TextBlock, { description: "The text in the caller's language" }),
})
