import { describe, expect, test } from 'bun:test';
import { accepted, asked, third, tools } from '../../../test/providers/gemini-requests.ts';

describe('tools', () => {
  const search = { type: 'function', function: { name: 'google_search' } };

  test('functions share one declaration; tools that Google runs stand beside it', () => {
    const { tools: written, toolConfig } = accepted({
      tools: [...tools, search, { type: 'url_context' }, { codeExecution: {} }],
    });
    expect(written).toEqual([
      {
        functionDeclarations: tools.map(({ function: { name, parameters } }) => ({
          name,
          parametersJsonSchema: parameters,
        })),
      },
      { googleSearch: {} },
      { urlContext: {} },
      { codeExecution: {} },
    ]);
    expect(toolConfig).toBeUndefined();
  });

  test('the third generation takes both only when it is told to check calls', () => {
    expect(accepted({ tools: [...tools, search] }, third).toolConfig).toEqual({
      functionCallingConfig: { mode: 'VALIDATED' },
      includeServerSideToolInvocations: true,
    });
    expect(accepted({ tools: [...tools, search] }, third, 'vertex').toolConfig).toEqual({
      functionCallingConfig: { mode: 'VALIDATED' },
    });
  });

  test('tools that Google runs are left out where none may be used', () => {
    expect(accepted({ tools: [...tools, search], tool_choice: 'none' }, third)).toMatchObject({
      tools: [{ functionDeclarations: expect.any(Array) }],
      toolConfig: { functionCallingConfig: { mode: 'NONE' } },
    });
    expect(accepted({ tools: [search], tool_choice: 'none' }).tools).toBeUndefined();
  });

  test('a function that describes its own parameters is the caller’s, whatever its name', () => {
    const own = { type: 'function', function: { name: 'code_execution', parameters: tools[0]?.function.parameters } };
    expect(accepted({ tools: [own] }).tools).toMatchObject([{ functionDeclarations: [{ name: 'code_execution' }] }]);
  });

  test('settings of hosted tools pass, and the place of maps goes where it belongs', () => {
    const retrieval = {
      type: 'function',
      function: { name: 'google_search_retrieval', parameters: { dynamicRetrievalConfig: { mode: 'MODE_DYNAMIC' } } },
    };
    const maps = { type: 'google_maps', google_maps: { enableWidget: true, latitude: 1, longitude: 2 } };
    const request = accepted({ tools: [retrieval, maps] });
    expect(request.tools).toEqual([
      { googleSearchRetrieval: { dynamicRetrievalConfig: { mode: 'MODE_DYNAMIC' } } },
      { googleMaps: { enableWidget: true } },
    ]);
    expect(request.toolConfig).toEqual({ retrievalConfig: { latLng: { latitude: 1, longitude: 2 } } });
  });

  test('searching the web by any other name is Google’s search', () => {
    for (const body of [
      { web_search_options: {} },
      { tools: [{ type: 'web_search_preview' }] },
      { tools: [{ type: 'web_search_20250305', name: 'web_search', max_uses: 3 }] },
    ]) {
      expect(accepted(body).tools).toEqual([{ googleSearch: {} }]);
    }
    const narrowed = (field: string) => ({
      tools: [{ type: 'web_search_20250305', name: 'web_search', [field]: ['a.test'] }],
    });
    expect(() => asked(narrowed('allowed_domains'))).toThrow('cannot keep to allowed_domains');
    expect(accepted(narrowed('blocked_domains'), {}, 'vertex').tools).toEqual([
      { googleSearch: { excludeDomains: ['a.test'] } },
    ]);
  });

  test('a tool that Google does not have is refused', () => {
    expect(() => asked({ tools: [{ type: 'bash_20250124', name: 'bash' }] })).toThrow('has no such tool');
    expect(() => asked({ tools: [{ type: 'enterprise_web_search' }] })).toThrow(
      'Gemini has no tool "enterprise_web_search"',
    );
  });

  test.each([
    ['auto', { mode: 'AUTO' }],
    ['none', { mode: 'NONE' }],
    ['required', { mode: 'ANY' }],
    [
      { type: 'function', function: { name: 'now' } },
      { mode: 'ANY', allowedFunctionNames: ['now'] },
    ],
  ])('the choice %j', (tool_choice, written) => {
    expect(accepted({ tools, tool_choice }).toolConfig).toEqual({ functionCallingConfig: written });
  });

  test('the body of the client stays as it was, and older models get cleaned schemas', () => {
    const parameters = {
      $schema: 'x',
      type: 'object',
      properties: { a: { $ref: '#/$defs/A' } },
      $defs: { A: { const: 'x' } },
      additionalProperties: false,
    };
    const body = { tools: [{ type: 'function', function: { name: 'f', parameters } }] };
    const copy = structuredClone(body);
    expect(accepted(body, { model: 'gemini-2.0-flash' }).tools).toEqual([
      { functionDeclarations: [{ name: 'f', parameters: { type: 'object', properties: { a: { enum: ['x'] } } } }] },
    ]);
    expect(body).toEqual(copy);
  });
});

describe('settings', () => {
  test('sampling, limits and counts, also where they are nought', () => {
    const body = {
      temperature: 0,
      top_p: 0,
      top_k: 4,
      seed: 0,
      max_tokens: 5,
      max_completion_tokens: 7,
      stop: 'END',
      n: 2,
      frequency_penalty: 0.5,
      presence_penalty: -0.5,
      logprobs: true,
      top_logprobs: 3,
      user: 'u',
      logit_bias: {},
      store: true,
      parallel_tool_calls: false,
    };
    expect(accepted(body)).toEqual({
      contents: [{ role: 'user', parts: [{ text: 'Hi' }] }],
      generationConfig: {
        temperature: 0,
        topP: 0,
        topK: 4,
        seed: 0,
        maxOutputTokens: 7,
        stopSequences: ['END'],
        candidateCount: 2,
        frequencyPenalty: 0.5,
        presencePenalty: -0.5,
        responseLogprobs: true,
        logprobs: 3,
      },
    });
    expect(accepted({ stop: ['a', 'b'] }).generationConfig).toEqual({ stopSequences: ['a', 'b'] });
  });

  const schema = { type: 'object', properties: { a: { type: ['string', 'null'] } } };
  const json_schema = { type: 'json_schema', json_schema: { name: 'x', schema } };

  test('formats', () => {
    expect(accepted({ response_format: { type: 'json_object' } }).generationConfig).toEqual({
      responseMimeType: 'application/json',
    });
    expect(accepted({ response_format: json_schema }).generationConfig).toEqual({
      responseMimeType: 'application/json',
      responseJsonSchema: schema,
    });
    expect(accepted({ response_format: json_schema }, { model: 'gemini-2.0-flash' }).generationConfig).toEqual({
      responseMimeType: 'application/json',
      responseSchema: { type: 'object', properties: { a: { type: 'string', nullable: true } } },
    });
  });

  test('a format beside functions is asked for in words where the model cannot be held to it', () => {
    const request = accepted({ response_format: json_schema, tools });
    expect(request.generationConfig).toBeUndefined();
    expect(JSON.stringify(request.systemInstruction)).toContain('It follows this JSON Schema');
    expect(accepted({ response_format: json_schema, tools }, third).generationConfig).toEqual({
      responseMimeType: 'application/json',
      responseJsonSchema: schema,
    });
  });

  test('what only Google knows', () => {
    const safety = [{ category: 'HARM_CATEGORY_HARASSMENT', threshold: 'BLOCK_NONE' }];
    const body = {
      safety_settings: safety,
      cached_content: 'cachedContents/1',
      modalities: ['text', 'image'],
      image_config: { aspect_ratio: '16:9', image_size: '2K' },
      media_resolution: 'MEDIA_RESOLUTION_LOW',
      service_tier: 'flex',
      generation_config: { topK: 1 },
    };
    expect(accepted(body)).toMatchObject({
      safetySettings: safety,
      cachedContent: 'cachedContents/1',
      serviceTier: 'flex',
      generationConfig: {
        responseModalities: ['TEXT', 'IMAGE'],
        imageConfig: { aspectRatio: '16:9', imageSize: '2K' },
        mediaResolution: 'MEDIA_RESOLUTION_LOW',
        topK: 1,
      },
    });
    const spoken = accepted({ modalities: ['audio'], audio: { voice: 'Kore', format: 'wav' } });
    expect(spoken.generationConfig).toEqual({
      responseModalities: ['AUDIO'],
      speechConfig: { voiceConfig: { prebuiltVoiceConfig: { voiceName: 'Kore' } } },
    });
  });

  test('labels are written for Vertex AI alone, with metadata where the target asks for it', () => {
    const body = { labels: { Team: 'R&D' }, metadata: { Cost_Center: 'A 1' } };
    expect(accepted(body).labels).toBeUndefined();
    expect(accepted(body, {}, 'vertex').labels).toEqual({ team: 'r_d' });
    const asked = { fields: { vertex_map_metadata: true }, metadata: { _user: 'Ada' } };
    expect(accepted(body, asked, 'vertex').labels).toEqual({
      team: 'r_d',
      gw_gateway__user: 'ada',
      gw_gateway_cost_center: 'a_1',
    });
    expect(accepted(body, { ...asked, labelPrefix: 'ai-' }, 'vertex').labels).toEqual({
      team: 'r_d',
      'ai-_user': 'ada',
      'ai-cost_center': 'a_1',
    });
  });
});
