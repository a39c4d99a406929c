import Type from 'typebox'
import { OrNull } from '../shapes.ts'

/** A home that several types of a person share, or that no type has any more. */
export const OwnHome = Type.Object({
  id: Type.String(),
  types: Type.Array(Type.String(), {
    description: 'Types whose containers have it; of a former home the one that had it',
  }),
  is_former: Type.Boolean({ description: 'No type has it any more: it can be removed' }),
  bytes: OrNull(Type.Integer(), { description: 'At the last measurement; null: not known' }),
})
export type OwnHome = Type.Static<typeof OwnHome>
export const OwnHomesResponse = Type.Object({ homes: Type.Array(OwnHome) })
export type OwnHomesResponse = Type.Static<typeof OwnHomesResponse>
export const HomeParams = Type.Object({ id: Type.String() })
