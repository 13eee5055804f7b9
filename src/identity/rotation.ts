/** Rotation policies of API keys: their schema, their calendar, and the rules that bind them. */
export interface RotationPolicy {
  rotation_period: 'weekly' | 'monthly' | null;
  rotation_period_days: number | null;
  next_rotation_at: string | null;
  key_transition_period_ms: number;
}
