/** The estimate against the vocabularies that OpenAI publishes, for the texts that bills are made of. */
import { describe, expect, test } from 'bun:test';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { encode as cl100k } from 'gpt-tokenizer/encoding/cl100k_base';
import { encode as o200k } from 'gpt-tokenizer/encoding/o200k_base';
import { tokensIn } from './tokens.ts';

const source = (path: string): string => readFileSync(join(import.meta.dir, path), 'utf8');

const texts: Record<string, string> = {
  'English, a story': `The old lighthouse stood at the edge of the cliff, its white paint peeling after decades of salt and wind. Every evening the keeper climbed the narrow staircase, lit the lamp, and watched the ships pass in the distance. He had done so for thirty years, and he could not imagine another life. When the company announced that the light would be automated, he said nothing; he simply went up one more time, wrote the date in the logbook, and sat there until morning.`,
  'English, a report': `Our quarterly review shows that customer retention improved by eleven percent, mainly because support tickets are now answered within four hours instead of two days. The remaining complaints concern billing: invoices arrive late, refunds take too long, and several customers were charged twice in March. We recommend hiring two additional specialists, simplifying the refund procedure, and publishing a clear timeline on the website. If approved, these measures would cost approximately 180,000 dollars per year and pay for themselves within eighteen months.`,
  'English, a handbook': source('../../docs/operations.md').slice(0, 8_000),
  Chinese: `人工智能正在改变我们的生活方式。从智能手机上的语音助手，到医院里的影像诊断系统，机器学习的应用已经无处不在。许多公司把大型语言模型接入自己的产品，希望借此提高效率、降低成本。然而，新的技术也带来了新的问题：数据隐私如何保护？错误的回答由谁负责？在享受便利的同时，我们需要认真思考这些问题，并且制定合理的规则。教育领域的变化尤其明显，学生可以随时向模型提问，老师则需要重新考虑怎样布置作业和考试。
春天来了，公园里的花都开了。小明和他的父母一起去郊外踏青。他们带了水果、面包和饮料，在湖边找了一块安静的草地坐下来。天空很蓝，白云慢慢地飘过，孩子们在远处放风筝。小明问爸爸：“为什么风筝能飞得那么高？”爸爸笑着说：“因为风在下面托着它，就像水托着船一样。”下午三点，他们收拾好东西，沿着小路走回车站。虽然有点累，但是大家都很高兴。`,
  'Arabic, an article': `يشهد العالم اليوم تطورًا سريعًا في مجال الذكاء الاصطناعي، إذ أصبحت النماذج اللغوية الكبيرة قادرة على كتابة النصوص وترجمتها والإجابة عن الأسئلة المعقدة. وتستخدم شركات كثيرة هذه التقنيات لتحسين خدماتها وتقليل نفقاتها. ومع ذلك، لا تزال هناك تحديات مهمة تتعلق بحماية البيانات الشخصية ودقة المعلومات والمسؤولية القانونية. ولهذا يدعو الخبراء إلى وضع قواعد واضحة تضمن الاستخدام الآمن والعادل لهذه الأدوات في التعليم والصحة والإعلام.`,
  'Arabic, a story': `في صباح يوم جميل خرجت العائلة إلى الحديقة القريبة من البيت. حملت الأم سلة فيها خبز وفواكه وعصير، وأخذ الأب كرة صغيرة للأطفال. جلسوا تحت شجرة كبيرة وبدأوا يتحدثون عن أحلامهم وخططهم للصيف القادم. قال الولد الصغير إنه يريد أن يتعلم السباحة، وقالت أخته إنها تحب الرسم وتريد أن تزور المتحف. وعند الغروب عادوا إلى البيت وهم سعداء بهذا اليوم الهادئ.`,
  Russian: `Сегодня утром мы проснулись рано, потому что собирались поехать на дачу. Погода была прекрасная: светило солнце, пели птицы, и лёгкий ветер приносил запах цветущей сирени. Отец загрузил машину, мама приготовила бутерброды, а дети долго спорили, кто сядет у окна.`,
  Japanese: `昨日は友達と一緒に新しいカフェへ行きました。店内はとても静かで、コーヒーの香りが漂っていました。私はチーズケーキを注文して、本を読みながらゆっくり過ごしました。夕方になると、窓の外に美しい夕焼けが見えました。`,
  'code in TypeScript': source('./usage.ts'),
  'code in Go': `package main

import (
	"encoding/json"
	"log"
	"net/http"
	"sync"
)

type counter struct {
	mu    sync.Mutex
	calls map[string]int
}

func (c *counter) add(path string) int {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.calls[path]++
	return c.calls[path]
}

func main() {
	c := &counter{calls: make(map[string]int)}
	http.HandleFunc("/", func(w http.ResponseWriter, r *http.Request) {
		n := c.add(r.URL.Path)
		w.Header().Set("Content-Type", "application/json")
		if err := json.NewEncoder(w).Encode(map[string]any{"path": r.URL.Path, "calls": n}); err != nil {
			log.Printf("encode: %v", err)
		}
	})
	log.Fatal(http.ListenAndServe(":8080", nil))
}`,
  'arguments of a tool': `{"name":"get_weather","arguments":{"city":"Paris","unit":"celsius","days":5,"include":["temperature","humidity","wind_speed"]},"id":"call_8f3a2b1c","created":1760000000,"nested":{"a":[1,2,3.5,null,true],"text":"The forecast for the coming days"}}`,
};

const most = 0.15;

describe.each([
  ['gpt-4o', o200k],
  ['gpt-4-turbo', cl100k],
] as const)('for models like %s', (model, encode) => {
  test.each(Object.keys(texts))('%s is counted within 15 %%', (name) => {
    const text = texts[name] ?? '';
    const real = encode(text).length;
    expect(Math.abs(tokensIn(text, model) - real) / real).toBeLessThan(most);
  });
});

test('an empty text has no tokens, and a strange one a few', () => {
  expect(tokensIn('')).toBe(0);
  expect(tokensIn('\ud800🚀\u0000')).toBeGreaterThan(0);
});
